/**
 * The module of a kept thread, which runs one database thread of the program after another (kept-worker.ts). An error
 * in one of them ends the thread.
 */
import { parentPort } from 'node:worker_threads';
import type { Start } from './kept-worker.ts';

/** Number of starts. It is part of the imported URL, so that each start evaluates the module again. */
let starts = 0;

parentPort?.on('message', async ({ module, workerData, port }: Start) => {
  starts++;
  port.on('close', () => parentPort?.postMessage('idle'));
  Object.assign(globalThis, { keptThread: { parentPort: port, workerData } });
  await import(`${module}?start=${starts}`);
});
