/** The inside of a thread of `killable-threads.ts`: it runs the jobs of the pool and reports their outcomes. */
import { parentPort } from 'node:worker_threads';
import { errorMessage } from '../errors.ts';

/**
 * The outcome of a job. `overran`: it exceeded its time, or blocked its thread. `died`: the thread ended, for instance
 * for lack of memory, or did not start. `crowded`: too many jobs were waiting, or this one waited too long.
 */
export type ThreadOutcome<Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'failed'; reason: 'threw' | 'overran' | 'died' | 'crowded' | 'closed'; message: string };

export type ToJobThread<Input> =
  /** The jobs of one turn of the event loop share a message: sending one costs more than a small input. */
  | { kind: 'run'; jobs: readonly { id: number; input: Input }[] }
  /** Asks whether the event loop of the thread still turns. */
  | { kind: 'ping' };

export type FromJobThread<Result> =
  | { kind: 'ready' }
  | { kind: 'pong' }
  | { kind: 'outcomes'; outcomes: readonly JobOutcome<Result>[] };

type JobOutcome<Result> = { id: number; outcome: ThreadOutcome<Result> };

/**
 * Serves the jobs of a pool. The module of a worker thread calls it once, at its end. The result of a job may be a
 * promise.
 * @throws Error when it runs in the main thread
 */
export function serveJobs<Input, Result>(run: (input: Input) => Result | Promise<Result>): void {
  const port = parentPort;
  if (!port) throw new Error('serveJobs is called in a worker thread');
  const post = (message: FromJobThread<Result>) => port.postMessage(message);
  let ended: JobOutcome<Result>[] = [];
  const postEnded = () => {
    const outcomes = ended;
    ended = [];
    post({ kind: 'outcomes', outcomes });
  };
  const runJob = async (id: number, input: Input) => {
    const outcome = await attempt(run, input);
    if (ended.length === 0) process.nextTick(postEnded);
    ended.push({ id, outcome });
  };
  port.on('message', (message: ToJobThread<Input>) => {
    if (message.kind === 'ping') post({ kind: 'pong' });
    else for (const { id, input } of message.jobs) void runJob(id, input);
  });
  post({ kind: 'ready' });
}

async function attempt<Input, Result>(
  run: (input: Input) => Result | Promise<Result>,
  input: Input,
): Promise<ThreadOutcome<Result>> {
  try {
    return { kind: 'done', result: await run(input) };
  } catch (error) {
    return { kind: 'failed', reason: 'threw', message: errorMessage(error) };
  }
}
