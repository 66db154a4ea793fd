/** A reader thread: runs long reads one after another, each on the read-only connection of its database. */
import { parentPort, workerData } from 'node:worker_threads';
import { encodeError } from '../system/encoded-error.ts';
import { answerWith, sendAnswers } from './answers.ts';
import { openReading } from './connection.ts';
import { connectionOf, kyselyOn } from './dialect.ts';
import { findOperation, type Tx } from './operation.ts';
import type { Answer, ReadingOptions, Request, ThreadMessage, ThreadOptions } from './thread-messages.ts';

const port = parentPort;
if (!port) throw new Error('db/reader-thread.ts runs as a worker thread');

await import((workerData as ThreadOptions).operationsModule);
const databases = new Map<number, Tx<unknown>>();
/** Ends when everything that came before has been done. */
let last = Promise.resolve();

port.on('message', (message: ThreadMessage<ReadingOptions>) => {
  last = last.then(() => obey(message));
});
port.postMessage('ready');

async function obey(message: ThreadMessage<ReadingOptions>): Promise<void> {
  if (!port) return;
  switch (message.kind) {
    case 'open':
      return answerWith(port, message, () => open(message.database, message.options));
    case 'run':
      return sendAnswers(port, message.database, await runAll(message.database, message.requests));
    case 'close':
      return answerWith(port, message, () => close(message.database));
    case 'end':
      return port.close();
  }
}

function open(database: number, { file }: ReadingOptions): void {
  databases.set(database, kyselyOn<unknown>(openReading(file)));
}

function close(database: number): void {
  const db = databases.get(database);
  databases.delete(database);
  if (db) connectionOf(db).close();
}

async function runAll(database: number, requests: readonly Request[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const { id, operation, input } of requests) {
    try {
      const db = databases.get(database);
      if (!db) throw new Error('the database is not open in this thread');
      answers.push({ id, value: await findOperation(operation).run(db, input) });
    } catch (error) {
      answers.push({ id, error: encodeError(error) });
    }
  }
  return answers;
}
