/** Encrypts a backup in a thread of its own, which ends with it: ciphers in JavaScript take a core for as long as they run. */
import { type Clock, DAY_MS } from '../system/clock.ts';
import { KillableThreads } from '../system/killable-threads.ts';
import { moduleBeside } from '../system/thread.ts';
import type { PackJob } from './pack.ts';

/** Maximum time for the encryption of one backup, in milliseconds: a day, after which the next one is due. */
const MAX_ENCRYPTION_MS = DAY_MS;
/** Maximum time in which the thread starts, in milliseconds. */
const MAX_START_MS = 60_000;
/** Heap limit of the thread in MB. The archive is a stream, of which at most 8 MB are held. */
const HEAP_MEGABYTES = 128;

/**
 * Packs and encrypts a backup, and returns the SHA-256 of the archive, which is on disk then.
 * @throws Error with the reason why it has failed
 */
export async function encryptBackup(clock: Clock, job: PackJob): Promise<string> {
  const threads = new KillableThreads<PackJob, string>(clock, {
    module: moduleBeside(import.meta.url, 'pack-thread'),
    threads: 1,
    maxWaiting: 1,
    quickJobMs: 0,
    heapMegabytes: HEAP_MEGABYTES,
  });
  try {
    const limits = { owner: '', timeoutMs: MAX_ENCRYPTION_MS, waitTimeoutMs: MAX_START_MS };
    const outcome = await threads.run(job, limits);
    if (outcome.kind === 'done') return outcome.result;
    throw new Error(`the backup could not be encrypted: ${outcome.message}`);
  } finally {
    await threads.close();
  }
}
