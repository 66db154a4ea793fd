/** Encrypts a backup in a thread of its own: it takes a core for as long as it runs. */
import type { Clock } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';
import type { PackJob } from './pack.ts';
import { runInThread } from './run-in-thread.ts';

/**
 * Packs and encrypts a backup, and returns the SHA-256 of the archive, which is on disk then.
 * @throws Error with the reason why it has failed
 */
export async function encryptBackup(clock: Clock, job: PackJob): Promise<string> {
  try {
    return await runInThread<PackJob, string>(clock, job, { module: 'pack-thread' });
  } catch (error) {
    throw new Error(`the backup could not be encrypted: ${errorMessage(error)}`, { cause: error });
  }
}
