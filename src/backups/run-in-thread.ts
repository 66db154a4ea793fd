/** Runs one long job of a backup in a thread of its own, which ends with it. */
import { type Clock, DAY_MS } from '../system/clock.ts';
import { KillableThreads } from '../system/killable-threads.ts';
import { moduleBeside } from '../system/thread.ts';

/** Maximum time of a job, in milliseconds: a day, after which the next backup is due. */
const MAX_JOB_MS = DAY_MS;
/** Maximum time in which the thread starts, in milliseconds. */
const MAX_START_MS = 60_000;
/** Heap limit of the thread in MB. Files are read as streams, of which at most 8 MB are held. */
const HEAP_MEGABYTES = 128;

type Options = {
  /** Name of the module of the thread, in this folder. */
  module: string;
  /** Ends the thread, and with it the job. */
  signal?: AbortSignal;
};

/**
 * Runs a job, and returns its result.
 * @throws Error with the reason why it has failed
 */
export async function runInThread<Job, Result>(
  clock: Clock,
  job: Job,
  { module, signal }: Options,
): Promise<Result> {
  const threads = new KillableThreads<Job, Result>(clock, {
    module: moduleBeside(import.meta.url, module),
    threads: 1,
    maxWaiting: 1,
    quickJobMs: 0,
    heapMegabytes: HEAP_MEGABYTES,
  });
  const close = () => void threads.close();
  signal?.addEventListener('abort', close, { once: true });
  try {
    const limits = { owner: '', timeoutMs: MAX_JOB_MS, waitTimeoutMs: MAX_START_MS };
    const outcome = await threads.run(job, limits);
    if (outcome.kind === 'done') return outcome.result;
    throw new Error(outcome.message);
  } finally {
    signal?.removeEventListener('abort', close);
    await threads.close();
  }
}
