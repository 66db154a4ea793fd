/** Code for the test of the log: it is bundled, fails in its own thread and in a worker, and logs both errors. */
import { once } from 'node:events';
import { isMainThread, Worker } from 'node:worker_threads';
import { serveJobs } from '../../src/system/killable-threads/serve.ts';
import { createLog } from '../../src/system/log.ts';

if (!isMainThread) failHere();

/** Throws on line 10 of this file. */
function failHere(): never {
  throw new Error('failed in the sample');
}

/** Logs what `fail` throws and returns the stack in the log line. */
export function stackOf(error: unknown): string {
  const lines: string[] = [];
  createLog('error', { write: (line) => lines.push(line) }).error({ err: error }, 'failed');
  return JSON.parse(lines.join('')).err.stack;
}

/** Fails in a function of src/. */
export function stackOfSource(): string {
  try {
    serveJobs(() => undefined);
  } catch (error) {
    return stackOf(new Error('failed outside', { cause: error }));
  }
  return '';
}

export async function stackOfWorker(): Promise<string> {
  const [error] = await once(new Worker(new URL(import.meta.url)), 'error').catch((thrown) => [thrown]);
  return stackOf(error);
}

/** Logs an error whose message looks like a frame of another file. */
export function stackOfForeignFrame(frame: string): string {
  return stackOf(Object.assign(new Error('foreign'), { stack: `Error: foreign\n    at ${frame}` }));
}
