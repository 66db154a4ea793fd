/** Acts as a database thread: greets with an id of the thread, and ends or fails when it is told to. */
import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

const shared = globalThis as { sampleThreadId?: string };
shared.sampleThreadId ??= randomUUID();

parentPort?.on('message', (message) => {
  if (message === 'fail') throw new Error('asked to fail');
  parentPort?.close();
});
parentPort?.postMessage({ threadId: shared.sampleThreadId, name: workerData.name });
