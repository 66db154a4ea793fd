/** A thread that runs one database thread of the program after another (kept-worker.ts). An error of one ends it. */
import { parentPort } from 'node:worker_threads';
import type { Start } from './kept-worker.ts';

/** Counts the starts, each of which evaluates its module anew. */
let starts = 0;

parentPort?.on('message', async ({ module, workerData, port }: Start) => {
  starts++;
  port.on('close', () => parentPort?.postMessage('idle'));
  Object.assign(globalThis, { keptThread: { parentPort: port, workerData } });
  await import(`${module}?start=${starts}`);
});
