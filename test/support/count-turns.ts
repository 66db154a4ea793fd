/** Counts turns of the event loop, to tell whether other work runs in between. */

/** Begins to count, and returns a function that ends it and returns the number of turns. */
export function countTurns(): () => number {
  let turns = 0;
  let isRunning = true;
  const count = (): void => {
    turns++;
    if (isRunning) setImmediate(count).unref();
  };
  setImmediate(count).unref();
  return () => {
    isRunning = false;
    return turns;
  };
}
