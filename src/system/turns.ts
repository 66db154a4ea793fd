/** Spreads costly steps of many connections over turns of the event loop, so that other connections are served in between. */
import { RoundRobin } from './round-robin.ts';

/**
 * Returns a function that resolves for at most `perTurn` callers in each turn of the event loop. Those that wait are served round-robin by
 * their owners, so that one with many connections does not delay the others, and in the order of their calls within an owner. While
 * fewer call, none waits.
 */
export function createTurns(perTurn: number): (owner: string) => Promise<void> {
  const waiting = new RoundRobin<() => void>();
  let begun = 0;
  function nextTurn(): void {
    for (begun = 0; begun < perTurn; begun++) {
      const resolve = waiting.take(() => true);
      if (!resolve) break;
      resolve();
    }
    if (begun > 0) setImmediate(nextTurn);
  }
  return (owner) => {
    if (begun === 0) setImmediate(nextTurn);
    if (begun < perTurn && waiting.size === 0) {
      begun++;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.add(owner, resolve));
  };
}
