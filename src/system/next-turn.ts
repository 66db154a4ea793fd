/** Lets other work run on the event loop between the slices of a long job. */
import type { Clock } from './clock.ts';

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Time for which a job works before other work runs, in milliseconds. Concurrent jobs alternate. */
const SLICE_MS = 1;

/**
 * Returns a function that a long job calls regularly, and whose result it awaits: undefined, or the next turn once a slice has passed. A
 * job of very many short steps awaits it only where it is not undefined.
 */
export function createPause(clock: Pick<Clock, 'elapsed'>): () => Promise<void> | undefined {
  let since = clock.elapsed();
  const pause = async (): Promise<void> => {
    await nextTurn();
    since = clock.elapsed();
  };
  return () => (clock.elapsed() - since < SLICE_MS ? undefined : pause());
}
