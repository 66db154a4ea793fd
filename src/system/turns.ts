/** Spreads costly steps of many connections over turns of the event loop, so that other connections are served in between. */

/**
 * Returns a function that resolves for at most `perTurn` callers in each turn of the event loop, in the order in which they
 * called. While fewer call, none waits.
 */
export function createTurns(perTurn: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let begun = 0;
  function nextTurn(): void {
    begun = 0;
    for (const resolve of waiting.splice(0, perTurn)) {
      begun++;
      resolve();
    }
    if (begun > 0) setImmediate(nextTurn);
  }
  return () => {
    if (begun === 0) setImmediate(nextTurn);
    if (begun < perTurn && waiting.length === 0) {
      begun++;
      return Promise.resolve();
    }
    return new Promise((resolve) => void waiting.push(resolve));
  };
}
