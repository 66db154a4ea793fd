/**
 * Runs writes that share a transaction. They run one after another without savepoints. When one of them throws,
 * everything is rolled back and all run again, each in its own savepoint, so that a refusal affects no other write. A
 * write may therefore run twice: it depends on `tx` and its input only, and stores nothing elsewhere.
 */
import type { Database } from 'better-sqlite3';
import type { Clock } from '../system/clock.ts';
import { encodeError } from '../system/encoded-error.ts';
import { errorCode } from '../system/errors.ts';
import { shareAmongWrites, storeShared } from './end-of-writes.ts';
import { type CommitMoment, findOperation, type Tx } from './operation.ts';
import {
  asRefusal,
  endOnBrokenStorage,
  endOnFailedFlush,
  endOnUnknownOutcome,
  isDamagedDatabase,
  recogniseQuota,
} from './storage-failure.ts';
import type { Answer, Request } from './thread-messages.ts';

/**
 * Time after which a group takes no further write, in milliseconds: enough to amortise the flush, and an urgent write that
 * arrives meanwhile is on disk soon.
 */
export const GROUP_MS = 10;

/** Receives the group right before and right after COMMIT. */
export type Reach = (group: readonly Request[], moment: CommitMoment) => void;

type GroupCommitOptions = {
  reach: Reach;
  clock: Pick<Clock, 'elapsed'>;
  /** Makes a commit durable, where SQLite does not. */
  flush?: (() => void) | undefined;
};

/**
 * Returns the function that runs a group. It returns the answers once everything that was written is on disk. There are
 * fewer answers than writes, but at least one, when the time of the group was over; the further writes have not run.
 */
export function createGroupCommit(
  database: Database,
  tx: Tx<unknown>,
  { reach, clock, flush }: GroupCommitOptions,
): (group: readonly Request[]) => Promise<Answer[]> {
  /**
   * True after a group with a refusal. Refusals come in series, because refused callers retry; savepoints are then
   * cheaper than running twice.
   */
  let expectsRefusal = false;
  return async (group) => {
    const until = clock.elapsed() + GROUP_MS;
    const inTime = function* () {
      for (const [position, request] of group.entries())
        if (position === 0 || clock.elapsed() < until) yield request;
        else return;
    };
    try {
      const together = expectsRefusal ? undefined : await runTogether(database, tx, inTime());
      const answers = together ?? (await runApart(database, tx, inTime()));
      expectsRefusal = answers.some((answer) => 'error' in answer);
      const ran = group.slice(0, answers.length);
      reach(ran, 'beforeCommit');
      commit(database, flush);
      reach(ran, 'afterCommit');
      return answers;
    } catch (error) {
      const failure = survivable(database, error);
      if (database.inTransaction) database.exec('ROLLBACK');
      return group.map((request) => ({ id: request.id, error: encodeError(asRefusal(failure)) }));
    }
  };
}

/**
 * Commits the transaction and makes it durable.
 * @throws only when no change of the transaction can appear later, or when the database is damaged, so that it is closed and no
 * write is answered; otherwise the process ends
 */
function commit(database: Database, flush: GroupCommitOptions['flush']): void {
  try {
    database.exec('COMMIT');
  } catch (error) {
    const failure = recogniseQuota(error, database.name);
    if (isDamagedDatabase(errorCode(failure) ?? '')) throw failure;
    endOnUnknownOutcome(failure, database.name);
    throw failure;
  }
  try {
    flush?.();
  } catch (error) {
    endOnFailedFlush(error, database.name);
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

/**
 * Runs the group without savepoints and leaves the transaction open. Returns undefined, with everything rolled back,
 * when a write threw.
 */
async function runTogether(
  database: Database,
  tx: Tx<unknown>,
  group: Iterable<Request>,
): Promise<Answer[] | undefined> {
  database.exec('BEGIN IMMEDIATE');
  shareAmongWrites(tx);
  try {
    const answers: Answer[] = [];
    for (const request of group) {
      answers.push({ id: request.id, value: await run(tx, request) });
      // SQLite may have rolled back the transaction while a write ignored the error.
      if (!database.inTransaction)
        throw new Error(`"${request.operation}" ended the transaction of its group`);
    }
    await storeShared(tx);
    return answers;
  } catch (error) {
    survivable(database, error);
    if (database.inTransaction) database.exec('ROLLBACK');
    return undefined;
  }
}

/**
 * Runs the group with a savepoint for each write and leaves the transaction open.
 * @throws when SQLite has rolled back the whole group
 */
async function runApart(database: Database, tx: Tx<unknown>, group: Iterable<Request>): Promise<Answer[]> {
  database.exec('BEGIN IMMEDIATE');
  const answers: Answer[] = [];
  for (const request of group) answers.push(await runInSavepoint(database, tx, request));
  return answers;
}

async function runInSavepoint(database: Database, tx: Tx<unknown>, request: Request): Promise<Answer> {
  database.exec('SAVEPOINT one_write');
  shareAmongWrites(tx);
  try {
    const value = await run(tx, request);
    await storeShared(tx);
    database.exec('RELEASE one_write');
    return { id: request.id, value };
  } catch (error) {
    const failure = survivable(database, error);
    // SQLite may have rolled back the whole transaction, for instance on a full disk. No write of the group then
    // takes effect.
    if (!database.inTransaction) throw failure;
    database.exec('ROLLBACK TO one_write');
    database.exec('RELEASE one_write');
    return { id: request.id, error: encodeError(asRefusal(failure)) };
  }
}

function run(tx: Tx<unknown>, { operation, input }: Request): Promise<unknown> {
  return findOperation(operation).run(tx, input);
}
