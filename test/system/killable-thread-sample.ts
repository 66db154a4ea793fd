/** A thread for the tests of killable-threads: does as it is told, so that each fate of a job can be had for the asking. */
import { isMainThread, resourceLimits, threadId, workerData } from 'node:worker_threads';
import { serveJobs } from '../../src/system/killable-threads/serve.ts';

export type Order = {
  what:
    | 'where'
    | 'room'
    | 'pause'
    | 'hold'
    | 'spin'
    | 'hoard'
    | 'throw'
    | 'exit'
    | 'data'
    | 'wait'
    | 'reject';
  /** Turns 1 when the thread has the order. */
  begun?: Int32Array;
  /** Ends `hold` and `wait` when it turns 1. */
  release?: Int32Array;
};

serveJobs(({ what, begun, release }: Order): string | Promise<string> => {
  if (begun) {
    Atomics.store(begun, 0, 1);
    Atomics.notify(begun, 0);
  }
  switch (what) {
    case 'where':
      return isMainThread ? 'main' : `thread ${threadId}`;
    case 'room':
      return `${resourceLimits.maxOldGenerationSizeMb} and ${resourceLimits.maxYoungGenerationSizeMb} MB`;
    case 'pause':
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      return `thread ${threadId}`;
    case 'hold':
      if (release) Atomics.wait(release, 0, 0);
      return `thread ${threadId}`;
    case 'data':
      return String(workerData);
    case 'wait':
      return wait(release);
    case 'reject':
      return Promise.reject(new Error('as told'));
    case 'spin':
      for (;;);
    case 'hoard': {
      const kept: unknown[] = [];
      for (;;) kept.push(new Array(1_000).fill(kept.length));
    }
    case 'throw':
      throw new Error('as told');
    case 'exit':
      process.exit(3);
  }
});

/** Waits without blocking the thread; for ever without `release`. */
async function wait(release?: Int32Array): Promise<string> {
  // A timer keeps the thread alive, as a socket does that waits for an answer.
  const timer = setInterval(() => {}, 60_000);
  if (release) await Atomics.waitAsync(release, 0, 0).value;
  else await new Promise(() => {});
  clearInterval(timer);
  return `thread ${threadId}`;
}
