/** A process that runs two jobs and leaves its threads to themselves. */
import { realClock } from '../../src/system/clock.ts';
import { KillableThreads } from '../../src/system/killable-threads.ts';
import type { Order } from './killable-thread-sample.ts';

const job = { owner: 'a', timeoutMs: 60_000, waitTimeoutMs: 60_000 };
const threads = new KillableThreads<Order, string>(realClock, {
  module: new URL('./killable-thread-sample.ts', import.meta.url),
  threads: 1,
  maxWaiting: 1,
  quickJobMs: 60_000,
  heapMegabytes: 32,
});
console.log((await threads.run({ what: 'where' }, job)).kind);
console.log((await threads.run({ what: 'pause' }, job)).kind);
