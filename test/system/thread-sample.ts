/** A part for the tests of `thread.ts`: its calls do what a test wants to see from outside. */
import { resourceLimits } from 'node:worker_threads';
import { realClock } from '../../src/system/clock.ts';
import { AppError } from '../../src/system/errors.ts';
import type { Log } from '../../src/system/log.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { serveThread, type ThreadHost } from '../../src/system/thread/serve.ts';

/**
 * `flag` is shared memory: a call that holds sets it to 1, and ends when it becomes 2. A thread that loads for ever
 * waits for a flag that is no longer 0.
 */
export type SampleData = { isBroken: boolean; loadsForEver?: boolean; flag: Int32Array<SharedArrayBuffer> };

type SampleParts = { log: Log; counted: { inc(): void } };

export type SampleCalls = ReturnType<typeof createCalls>;

function createCalls(host: ThreadHost, { flag }: SampleData, { log, counted }: SampleParts) {
  return {
    echo: async (text: string) => `${text} from ${host.name}`,
    refuse: async (text: string) => {
      throw new AppError('rate_limited', text, { retryAfterSeconds: 7 });
    },
    returnFunction:
      async (_input: null): Promise<unknown> =>
      () =>
        1,
    heapMegabytes: async (_input: null) => resourceLimits.maxOldGenerationSizeMb,
    wakeTenants: async (_input: null) => host.wakeups.notify('tenants'),
    count: async (_input: null) => counted.inc(),
    logDetail: async (message: string) => log.debug({}, message),
    logError: async (message: string) => log.warn({ err: new TypeError('a bug') }, message),
    wake: async (subjects: readonly string[]) => {
      for (const subject of subjects) host.wakeups.notify('queue', [subject]);
      host.wakeups.notify('audiences');
    },
    throwLater: async (message: string) => {
      setImmediate(() => {
        throw new Error(message);
      });
    },
    exhaustHeap: async (_input: null) => {
      const kept: number[][] = [];
      for (;;) kept.push(Array.from({ length: 1_000 }, (_, index) => index + kept.length));
    },
    spin: async (_input: null) => {
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
      Atomics.wait(flag, 0, 1);
    },
    hold: async (_input: null) => {
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
      await Atomics.waitAsync(flag, 0, 1).value;
      return 'held';
    },
  };
}

await serveThread(async (data, host) => {
  const sample = data as SampleData;
  if (sample.isBroken) throw new Error('the sample does not start');
  if (sample.loadsForEver) Atomics.wait(sample.flag, 0, 0);
  const metrics = createMetrics(realClock, host.name);
  const log = host.openLog('info');
  const counted = metrics.counter('sample_total', 'A sample.');
  host.wakeups.listen('tenants', (subjects) => host.wakeups.notify('jobs', subjects));
  return {
    calls: createCalls(host, sample, { log, counted }),
    metrics,
    stop: async () => log.info({}, 'stop'),
    close: async () => log.info({}, 'close'),
  };
});
