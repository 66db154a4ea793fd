/** Between slices of work that would hold the event loop as one: everybody else has it once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
