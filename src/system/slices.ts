/**
 * Lets other work run on the event loop between the slices of a long job. Jobs with an owner, such as those of one mailbox, share one slice
 * of each turn: owners alternate, however many jobs each of them has, and whatever its jobs do.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from './clock.ts';
import { RoundRobin } from './round-robin.ts';
import type { Steps } from './steps.ts';

const owners = new AsyncLocalStorage<string>();
/** Jobs with an owner that wait for their next slice. */
const waiting = new RoundRobin<() => void>();
let isServing = false;

/** Runs a job whose slices alternate with those of the jobs of other owners in this thread. */
export function runForOwner<Result>(owner: string, job: () => Result): Result {
  return owners.run(owner, job);
}

/** Resolves in the next turn of the event loop, or when the job of an owner may run its next slice. */
export function nextSlice(): Promise<void> {
  const owner = owners.getStore();
  if (owner === undefined) return new Promise((resolve) => void setImmediate(resolve));
  return new Promise((resolve) => {
    waiting.add(owner, resolve);
    if (!isServing) setImmediate(serveNext);
    isServing = true;
  });
}

/** Runs a calculation to its end, and lets other work run after each of its steps. */
export async function finishInSlices<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const next = steps.next();
    if (next.done) return next.value;
    await nextSlice();
  }
}

/** Lets one job run. What arrives meanwhile for other jobs is handled before the next one. */
function serveNext(): void {
  waiting.take(() => true)?.();
  isServing = waiting.size > 0;
  if (isServing) setImmediate(serveNext);
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
    await nextSlice();
    since = clock.elapsed();
  };
  return () => (clock.elapsed() - since < SLICE_MS ? undefined : pause());
}

/**
 * Returns a function that resolves for at most `perSlice` callers in each slice, which is a turn of the event loop. Those that wait are served round-robin by
 * their owners, so that one with many connections does not delay the others, and in the order of their calls within an owner. While
 * fewer call, none waits.
 */
export function createSlices(perSlice: number): (owner: string) => Promise<void> {
  const waiting = new RoundRobin<() => void>();
  let begun = 0;
  function nextSlice(): void {
    for (begun = 0; begun < perSlice; begun++) {
      const resolve = waiting.take(() => true);
      if (!resolve) break;
      resolve();
    }
    if (begun > 0) setImmediate(nextSlice);
  }
  return (owner) => {
    if (begun === 0) setImmediate(nextSlice);
    if (begun < perSlice && waiting.size === 0) {
      begun++;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.add(owner, resolve));
  };
}
