/**
 * The writer thread has the only writing connection. It runs all pending writes in one transaction
 * (db/write-group.ts) and answers after COMMIT has returned, when they are on disk.
 */
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { createCrashPoint } from '../system/crash-point.ts';
import { sendAnswers } from './answers.ts';
import { CHECKPOINT_PAGES, checkpointWhenLong, openWriting } from './connection.ts';
import { kyselyOn } from './dialect.ts';
import { flushPath } from './flush-files.ts';
import { openInstallation } from './installation/session.ts';
import { advanceInstallation } from './installation/store.ts';
import { migrate } from './migrate.ts';
import { endOnBrokenStorage } from './storage-failure.ts';
import type { Request, WriterOptions } from './thread-messages.ts';
import { createGroupCommit, nextGroup } from './write-group.ts';

/** Names of the writes that accept mail. */
const ACCEPTING: ReadonlySet<string> = new Set(['emails.accept', 'emails.acceptBatch']);

const options = workerData as WriterOptions;
if (!parentPort) throw new Error('db/writer-thread.ts runs as a worker thread');
const port = parentPort;
const crashPoint = createCrashPoint(options.crashAt);

await import(options.operationsModule);
const installation = openInstallation(options);
const database = openWriting(options.file, options.synchronous);
const commitGroup = createGroupCommit(database, kyselyOn(database), reach);
installation.judge(database);
migrate(database, options.nowMs);
makeDurable(database);
const started = installation.begin(database);

let waiting: Request[] = [];
let busy = false;
let closing = false;
port.on('message', (requests: Request[] | 'close') => {
  if (requests === 'close') closing = true;
  else waiting.push(...requests);
  if (!busy) setImmediate(drain);
});
port.postMessage(started);

async function drain(): Promise<void> {
  if (busy) return;
  busy = true;
  while (waiting.length > 0) {
    const group = nextGroup(waiting);
    waiting = waiting.slice(group.length);
    sendAnswers(port, await commitGroup(group));
    checkpoint(database);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (closing) close();
  else busy = false;
}

/** Runs checkpoints explicitly, because SQLite does not report an automatic checkpoint that failed. */
function checkpoint(database: Database): void {
  try {
    checkpointWhenLong(database, CHECKPOINT_PAGES, {
      before: () => installation.beforeCheckpoint(database),
      after: () => installation.afterCheckpoint(),
    });
  } catch (error) {
    endOnBrokenStorage(error, options.file);
    throw error;
  }
}

/** Makes the start durable: afterwards the database, its WAL and their names survive a power cut. */
function makeDurable(database: Database): void {
  database.transaction(() => {
    database.exec('DELETE FROM starts');
    database.prepare('INSERT INTO starts VALUES (?)').run(options.nowMs);
    installation.record(database);
  })();
  const [checkpoint] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (checkpoint?.busy === 0) installation.afterCheckpoint();
  flushPath(`${options.file}-wal`);
  flushPath(dirname(options.file));
  flushPath(dirname(dirname(options.file)));
}

/**
 * Closes the database. It does not wait for a foreign reader, such as a backup: the WAL then stays, and the next
 * start copies it back.
 */
function close(): void {
  installation.end(database);
  database.pragma('busy_timeout = 0');
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  port.close();
}

function reach(group: readonly Request[], moment: 'before' | 'after'): void {
  for (const { operation } of group) {
    if (ACCEPTING.has(operation) && moment === 'before') crashPoint('accept-before-commit');
    if (operation === 'queue.settle')
      crashPoint(moment === 'before' ? 'settle-before-commit' : 'settle-after-commit');
    if (operation === advanceInstallation.name && moment === 'after') installation.follow(database);
  }
}
