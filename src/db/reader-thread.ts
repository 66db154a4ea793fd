/** A reader thread: runs long reads one after another on a read-only connection. */
import { parentPort, workerData } from 'node:worker_threads';
import { sendAnswers } from './answers.ts';
import { openReading } from './connection.ts';
import { kyselyOn } from './dialect.ts';
import { findOperation } from './operation.ts';
import { type Answer, encodeError, type ReaderOptions, type Request } from './thread-messages.ts';

const options = workerData as ReaderOptions;
const port = parentPort;
if (!port) throw new Error('db/reader-thread.ts runs as a worker thread');

await import(options.operationsModule);
const database = openReading(options.file);
const db = kyselyOn(database);

port.on('message', async (requests: Request[] | 'close') => {
  if (requests === 'close') {
    database.close();
    port.close();
    return;
  }
  const answers: Answer[] = [];
  for (const { id, operation, input } of requests) {
    try {
      answers.push({ id, value: await findOperation(operation)(db, input) });
    } catch (error) {
      answers.push({ id, error: encodeError(error) });
    }
  }
  sendAnswers(port, answers);
});
port.postMessage({ ready: true });
