/**
 * A writer thread has the only writing connection of each database that it serves. It runs all waiting writes of a
 * database in one transaction (db/write-group.ts) and answers after COMMIT has returned, when they are on disk. The
 * databases are served round-robin, one transaction each.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import './free-pages.ts';
import { createCrashPoint } from '../system/crash-point.ts';
import { encodeError } from '../system/encoded-error.ts';
import { answerWith, sendAnswers, sendMoving } from './answers.ts';
import { takeRequestedWakeups } from './commit-wakeups.ts';
import { CopyPace } from './copy-database.ts';
import { SharedLoad } from './shared-load.ts';
import type {
  Answer,
  CopyEnd,
  ThreadMessage,
  ThreadOptions,
  ThreadReply,
  WritingOptions,
} from './thread-messages.ts';
import { WriterDatabase } from './writer-database.ts';

type Message = ThreadMessage<WritingOptions>;

const { operationsModule, crashAt } = workerData as ThreadOptions;
if (!parentPort) throw new Error('db/writer-thread.ts runs as a worker thread');
const port = parentPort;
const crashPoint = createCrashPoint(crashAt);

await import(operationsModule);
const databases = new Map<number, WriterDatabase>();
/** Ids of the requests to close a database, by its number. It is closed when no write of it waits any more. */
const closing = new Map<number, number>();
/** Work about the pages of databases. It runs between two transactions. */
const betweenGroups: (() => void)[] = [];
/** Ports of other threads, with the number of the database that each writes to. */
const connected = new Map<MessagePort, number>();
let busy = false;
let ending = false;

port.on('message', (message: Message) => {
  obey(message);
  if (!busy) setImmediate(drain);
});
port.postMessage('ready');

function obey(message: Message): void {
  switch (message.kind) {
    case 'open':
      answerWith(port, message, () => open(message.database, message.options));
      break;
    case 'run':
      databases.get(message.database)?.add(message.requests, port);
      break;
    case 'connect':
      connect(message);
      break;
    case 'close':
      closing.set(message.database, message.id);
      break;
    case 'copy':
      void copy(message);
      break;
    case 'follow':
      betweenGroups.push(() =>
        answerWith(port, message, () => find(message.database).followPages(message.isFollowed)),
      );
      break;
    case 'collect':
      betweenGroups.push(() => collect(message));
      break;
    case 'end':
      ending = true;
  }
}

/** Takes writes to one database from the port of another thread, until that thread or this one closes it. */
function connect({ database: number, port: other, load }: Extract<Message, { kind: 'connect' }>): void {
  connected.set(other, number);
  other.on('message', (message: ThreadMessage<never>) => {
    if (message.kind !== 'run') return;
    databases.get(number)?.add(message.requests, other);
    if (!busy) setImmediate(drain);
  });
  other.once('close', () => {
    connected.delete(other);
    new SharedLoad(load).close();
  });
}

async function copy({
  database,
  file,
  pace,
  port: asker,
}: Extract<Message, { kind: 'copy' }>): Promise<void> {
  const end: CopyEnd = {};
  try {
    await find(database).copyTo(file, new CopyPace(pace));
  } catch (error) {
    end.error = encodeError(error);
  }
  asker.postMessage(end);
  asker.close();
}

/** @throws Error when the database is not open */
function find(number: number): WriterDatabase {
  const database = databases.get(number);
  if (!database) throw new Error('the database is closed');
  return database;
}

/** Answers with pages, whose memory moves to the asking thread. */
function collect({ database, id }: Extract<Message, { kind: 'collect' }>): void {
  try {
    const value = find(database).collectPages();
    const moved = typeof value === 'object' ? [value.contents.buffer, value.numbers.buffer] : [];
    sendMoving(port, { database, answer: { id, value } }, moved);
  } catch (error) {
    sendAnswers(port, database, [{ id, error: encodeError(error) }]);
  }
}

/** Returns the ports on which writes to a database arrive. */
function portsOf(number: number): MessagePort[] {
  return [...connected].flatMap(([other, database]) => (database === number ? [other] : []));
}

function open(number: number, options: WritingOptions): unknown {
  const database = new WriterDatabase(options, crashPoint);
  databases.set(number, database);
  return database.started;
}

/** Runs waiting writes until there are none, and closes what is to be closed. */
async function drain(): Promise<void> {
  if (busy) return;
  busy = true;
  while (hasWork()) {
    for (const work of betweenGroups.splice(0)) work();
    for (const [number, database] of databases) {
      if (database.hasWaiting) await runGroup(number, database);
      else close(number, database);
      // New messages are received between two groups.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  if (ending) port.close();
  busy = false;
}

function hasWork(): boolean {
  const hasWaiting = [...databases.values()].some((database) => database.hasWaiting);
  return hasWaiting || closing.size > 0 || betweenGroups.length > 0;
}

/** Runs a group of one database. An error ends that database: the others go on, and the client decides what follows. */
async function runGroup(number: number, database: WriterDatabase): Promise<void> {
  const full: ThreadReply = { kind: 'full', database: number };
  try {
    for (const [asker, answers] of await database.runNextGroup()) {
      for (const answer of answers) if (isDiskFull(answer)) port.postMessage(full);
      sendAnswers(asker, number, answers);
    }
    database.freeGiven();
    const wakeups = takeRequestedWakeups();
    if (wakeups.length > 0)
      port.postMessage({ kind: 'wakeups', database: number, wakeups } satisfies ThreadReply);
    database.checkpoint();
  } catch (error) {
    databases.delete(number);
    closing.delete(number);
    const failed: ThreadReply = { kind: 'failed', database: number, error: encodeError(error) };
    for (const asker of [port, ...portsOf(number)]) asker.postMessage(failed);
  }
}

function isDiskFull(answer: Answer): boolean {
  return 'error' in answer && answer.error.kind === 'refusal' && answer.error.options.shortage === 'disk';
}

function close(number: number, database: WriterDatabase): void {
  const id = closing.get(number);
  if (id === undefined) return;
  databases.delete(number);
  closing.delete(number);
  for (const other of portsOf(number)) other.close();
  answerWith(port, { database: number, id }, () => database.close());
}
