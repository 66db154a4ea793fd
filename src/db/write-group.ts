/**
 * Writes that share a transaction. They run one after another without savepoints, which nearly always is all there is
 * to it; when one throws, everything is rolled back and all run again, each in a savepoint of its own, so that a refusal
 * harms no other. A write may run twice for that reason: it is a function of `tx` and its input, and keeps nothing.
 */
import type { Database } from 'better-sqlite3';
import { errorCode } from '../system/errors.ts';
import { findOperation, type Tx } from './operation.ts';
import {
  asRefusal,
  endOnBrokenStorage,
  endOnUnknownOutcome,
  isDamagedDatabase,
  recogniseQuota,
} from './storage-failure.ts';
import { type Answer, encodeError, type Request } from './thread-messages.ts';

/** Writes in one transaction: enough to hide the flush, few enough that the first caller does not wait long (engine.md 4). */
export const GROUP_SIZE = 256;
/** And bytes of their inputs (engine.md 4): a thousand pages of WAL. A larger write is a group of its own. */
export const GROUP_BYTES = 4 * 1024 * 1024;

/** The first of `waiting` that make up a group, in their order; at least one where there is any. */
export function nextGroup(waiting: readonly Request[]): Request[] {
  let size = 0;
  let bytes = 0;
  for (const { sizeBytes } of waiting) {
    bytes += sizeBytes;
    if (size === GROUP_SIZE || (size > 0 && bytes > GROUP_BYTES)) break;
    size++;
  }
  return waiting.slice(0, size);
}

/** Called right before and right after COMMIT. */
export type Reach = (group: readonly Request[], moment: 'before' | 'after') => void;

/** Answers each request of a group when all that was written is on disk. */
export function createGroupCommit(
  database: Database,
  tx: Tx,
  reach: Reach,
): (group: readonly Request[]) => Promise<Answer[]> {
  /** Refusals come in runs: a caller who is refused tries again. Then savepoints are cheaper than running twice. */
  let expectsRefusal = false;
  return async (group) => {
    try {
      const together = expectsRefusal ? undefined : await runTogether(database, tx, group);
      const answers = together ?? (await runApart(database, tx, group));
      expectsRefusal = answers.some((answer) => 'error' in answer);
      reach(group, 'before');
      commit(database);
      reach(group, 'after');
      return answers;
    } catch (error) {
      const failure = survivable(database, error);
      if (database.inTransaction) database.exec('ROLLBACK');
      return group.map((request) => ({ id: request.id, error: encodeError(asRefusal(failure)) }));
    }
  };
}

/**
 * Commits the transaction.
 * @throws only when no change of the transaction can appear later; otherwise the process ends
 */
function commit(database: Database): void {
  try {
    database.exec('COMMIT');
  } catch (error) {
    const failure = recogniseQuota(error, database.name);
    endOnUnknownOutcome(failure, database.name);
    throw failure;
  }
}

/**
 * Returns the error that the writes are refused with. Ends the process when the disk has failed.
 *
 * @throws the error itself when the database is damaged: it ends the writer thread, and the process then explains it
 */
function survivable(database: Database, error: unknown): unknown {
  const failure = recogniseQuota(error, database.name);
  endOnBrokenStorage(failure, database.name);
  if (isDamagedDatabase(errorCode(failure) ?? '')) throw failure;
  return failure;
}

/** Leaves the transaction open; undefined, and nothing of it, when a write threw. */
async function runTogether(
  database: Database,
  tx: Tx,
  group: readonly Request[],
): Promise<Answer[] | undefined> {
  database.exec('BEGIN IMMEDIATE');
  try {
    const answers: Answer[] = [];
    for (const request of group) {
      answers.push({ id: request.id, value: await run(tx, request) });
      // SQLite may have rolled back everything in a write that took its error for nothing.
      if (!database.inTransaction)
        throw new Error(`"${request.operation}" ended the transaction of its group`);
    }
    return answers;
  } catch (error) {
    survivable(database, error);
    if (database.inTransaction) database.exec('ROLLBACK');
    return undefined;
  }
}

/** Leaves the transaction open; throws when nothing of the group can stand. */
async function runApart(database: Database, tx: Tx, group: readonly Request[]): Promise<Answer[]> {
  database.exec('BEGIN IMMEDIATE');
  const answers: Answer[] = [];
  for (const request of group) answers.push(await runInSavepoint(database, tx, request));
  return answers;
}

async function runInSavepoint(database: Database, tx: Tx, request: Request): Promise<Answer> {
  database.exec('SAVEPOINT one_write');
  try {
    const value = await run(tx, request);
    database.exec('RELEASE one_write');
    return { id: request.id, value };
  } catch (error) {
    const failure = survivable(database, error);
    // SQLite may have rolled back everything, for instance on a full disk: then nothing of the group stands.
    if (!database.inTransaction) throw failure;
    database.exec('ROLLBACK TO one_write');
    database.exec('RELEASE one_write');
    return { id: request.id, error: encodeError(asRefusal(failure)) };
  }
}

function run(tx: Tx, { operation, input }: Request): Promise<unknown> {
  return findOperation(operation)(tx, input);
}
