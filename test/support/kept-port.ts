/** Replaces `node:worker_threads` for a database thread that runs in a kept thread (kept-thread.ts). */
import type { Start } from './kept-worker.ts';

type Kept = Pick<Start, 'workerData'> & { parentPort: Start['port'] };

export const { parentPort, workerData } = (globalThis as unknown as { keptThread: Kept }).keptThread;
