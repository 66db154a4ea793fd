/** Resolves in the next turn of the event loop, so that other work runs between the slices of a long job. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
