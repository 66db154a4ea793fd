/** A thread for the tests of killable-threads: does as it is told, so that each fate of a job can be had for the asking. */
import { isMainThread, resourceLimits, threadId } from 'node:worker_threads';
import { serveJobs } from '../../src/system/killable-threads.ts';

export type Order = {
  what: 'where' | 'room' | 'pause' | 'hold' | 'spin' | 'hoard' | 'throw' | 'exit';
  /** Turns 1 when the thread has the order. */
  begun?: Int32Array;
  /** Ends `hold` when it turns 1. */
  release?: Int32Array;
};

serveJobs(({ what, begun, release }: Order): string => {
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
