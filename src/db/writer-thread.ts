/**
 * The writer thread: the only writing connection. It takes every write that waits, runs them in one transaction, each
 * in a savepoint of its own so that a refusal harms no other, and answers after COMMIT has returned: then it is on disk.
 */
import { writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { createCrashPoint } from '../system/crash-point.ts';
import { AppError, errorCode, errorMessage } from '../system/errors.ts';
import { checkpointWhenLong, openWriting } from './connection.ts';
import { kyselyOn } from './dialect.ts';
import { flushPath } from './flush-files.ts';
import { migrate } from './migrate.ts';
import { findOperation, type Tx } from './operation.ts';
import { isBrokenStorage } from './storage-failure.ts';
import { type Answer, encodeError, type Request, type WriterOptions } from './thread-messages.ts';

/** Writes in one transaction: enough to hide the flush, few enough that the first caller does not wait long. */
const GROUP_SIZE = 256;

const options = workerData as WriterOptions;
const port = parentPort;
if (!port) throw new Error('db/writer-thread.ts runs as a worker thread');
const crashPoint = createCrashPoint(options.crashAt);

await import(options.operationsModule);
const database = openWriting(options.file, options.synchronous);
const tx = kyselyOn(database);
migrate(database, options.nowMs);
makeDurable(database);

let waiting: Request[] = [];
let busy = false;
let closing = false;
port.on('message', (requests: Request[] | 'close') => {
  if (requests === 'close') closing = true;
  else waiting.push(...requests);
  if (!busy) setImmediate(drain);
});
port.postMessage({ ready: true });

async function drain(): Promise<void> {
  if (busy) return;
  busy = true;
  while (waiting.length > 0) {
    const group = waiting.slice(0, GROUP_SIZE);
    waiting = waiting.slice(GROUP_SIZE);
    sendAnswers(await commitGroup(database, tx, group));
    checkpoint(database);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (closing) close();
  else busy = false;
}

function sendAnswers(answers: readonly Answer[]): void {
  try {
    port?.postMessage(answers);
  } catch {
    for (const answer of answers) sendAlone(answer);
  }
}

/** A result that cannot be cloned is the bug of one write, and keeps no other from its answer. */
function sendAlone(answer: Answer): void {
  try {
    port?.postMessage([answer]);
  } catch (error) {
    port?.postMessage([{ id: answer.id, error: encodeError(error) } satisfies Answer]);
  }
}

async function commitGroup(database: Database, tx: Tx, group: readonly Request[]): Promise<Answer[]> {
  try {
    database.exec('BEGIN IMMEDIATE');
    const answers: Answer[] = [];
    for (const request of group) answers.push(await runInSavepoint(database, tx, request));
    reach(group, 'before');
    database.exec('COMMIT');
    reach(group, 'after');
    return answers;
  } catch (error) {
    endOnBrokenStorage(error);
    if (database.inTransaction) database.exec('ROLLBACK');
    return group.map((request) => ({ id: request.id, error: encodeError(asRefusal(error)) }));
  }
}

async function runInSavepoint(database: Database, tx: Tx, request: Request): Promise<Answer> {
  database.exec('SAVEPOINT one_write');
  try {
    const value = await findOperation(request.operation)(tx, request.input);
    database.exec('RELEASE one_write');
    return { id: request.id, value };
  } catch (error) {
    endOnBrokenStorage(error);
    // SQLite may have rolled back everything, for instance on a full disk: then nothing of the group stands.
    if (!database.inTransaction) throw error;
    database.exec('ROLLBACK TO one_write');
    database.exec('RELEASE one_write');
    return { id: request.id, error: encodeError(asRefusal(error)) };
  }
}

function asRefusal(error: unknown): unknown {
  const code = errorCode(error);
  if (code === 'SQLITE_FULL') {
    return new AppError('unavailable', 'The disk is full', { cause: error, retryAfterSeconds: 30 });
  }
  if (code === 'SQLITE_BUSY') {
    return new AppError('unavailable', 'The database is locked', { cause: error, retryAfterSeconds: 5 });
  }
  return error;
}

function endOnBrokenStorage(error: unknown): void {
  const code = errorCode(error) ?? '';
  if (!isBrokenStorage(code)) return;
  writeSync(2, `${JSON.stringify({ level: 60, code, msg: `storage failed: ${errorMessage(error)}` })}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** By hand, because SQLite says nothing of an automatic checkpoint that failed. */
function checkpoint(database: Database): void {
  try {
    checkpointWhenLong(database);
  } catch (error) {
    endOnBrokenStorage(error);
    throw error;
  }
}

/** At start: after this the database, its WAL and their names survive a power cut. */
function makeDurable(database: Database): void {
  database.exec('DELETE FROM starts');
  database.prepare('INSERT INTO starts VALUES (?)').run(options.nowMs);
  database.pragma('wal_checkpoint(TRUNCATE)');
  flushPath(`${options.file}-wal`);
  flushPath(dirname(options.file));
  flushPath(dirname(dirname(options.file)));
}

function close(): void {
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  port?.close();
}

function reach(group: readonly Request[], moment: 'before' | 'after'): void {
  for (const { operation } of group) {
    if (operation === 'emails.accept' && moment === 'before') crashPoint('accept-before-commit');
    if (operation === 'queue.settle')
      crashPoint(moment === 'before' ? 'settle-before-commit' : 'settle-after-commit');
  }
}
