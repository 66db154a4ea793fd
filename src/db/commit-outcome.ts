/** Stores what an attempt has led to outside of this daemon, such as the answer of a peer, which cannot be asked for again. */
import { type Clock, sleep } from '../system/clock.ts';
import type { Log } from '../system/log.ts';
import type { Access } from './access.ts';
import type { Write } from './operation.ts';
import type { Tables } from './tables.ts';

type OutcomeApp = { db: Pick<Access<Tables>, 'commit'>; clock: Clock; log: Pick<Log, 'error'> };

/**
 * Pauses between attempts to store an outcome, about two minutes in all. Afterwards the work is released, and is done again
 * as after a crash: the lease of a recipient expires, and the engine releases a task.
 */
const PAUSES_MS = [100, 500, 1_000, 5_000, 15_000, 30_000, 60_000] as const;

/**
 * Runs a write that stores an outcome, and tries again when that fails. A full disk must not discard the answer of a
 * peer, because the same thing would then be done twice.
 * @throws the error of the last attempt, when the outcome could not be stored for two minutes
 */
export async function commitOutcome<Input, Result>(
  { db, clock, log }: OutcomeApp,
  write: Write<Input, Result>,
  input: Input,
): Promise<Result> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await db.commit(write, input);
    } catch (error) {
      log.error({ err: error, write: write.name }, 'an outcome could not be stored yet');
      await sleep(clock, pauseMs);
    }
  }
  return db.commit(write, input);
}
