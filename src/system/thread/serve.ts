/** The inside of a thread that runs a part of the daemon: it starts the part, and answers the main thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { realClock, sleep } from '../clock.ts';
import { encodeError } from '../encoded-error.ts';
import { AppError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Wakeups } from '../wakeups.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';
import type { Calls, Part } from './part.ts';
import { createThreadWakeups } from './wakeups.ts';

/** The parts of the system that reach the main thread. */
export type ThreadHost = {
  /** Name of the thread. */
  name: string;
  wakeups: Wakeups;
  /** Writes a line to the log of the daemon. */
  writeLine(line: string): void;
};

type ServedPart = Part<Calls> & {
  metrics: Metrics;
  /** Is called after `stop`, when no call is under way any more. */
  close(): Promise<void>;
};

/** Period of the message that shows that the thread works, in milliseconds. */
const ALIVE_PERIOD_MS = 1_000;

/**
 * Runs a part in this thread until the main thread stops it. The module of a thread calls it once, at its end.
 * @throws Error when it runs in the main thread
 */
export async function serveThread(
  open: (data: unknown, host: ThreadHost) => Promise<ServedPart>,
): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('serveThread is called in a worker thread');
  const { name, data } = workerData as ThreadStart;
  const post = (message: FromThread) => port.postMessage(message);
  const wakeups = createThreadWakeups(realClock, post);
  const part = await open(data, { name, wakeups, writeLine: (line) => post({ kind: 'log', line }) });
  const calls = new CallServer(part.calls, port);
  port.on('message', (message: ToThread) => {
    switch (message.kind) {
      case 'wakeup':
        wakeups.receive(message);
        break;
      case 'call':
        calls.run(message);
        break;
      case 'stop':
        void stop(part, { calls, graceMs: message.graceMs, post });
    }
  });
  post({ kind: 'ready', calls: Object.keys(part.calls) });
  await reportAlive(part.metrics, post);
}

async function reportAlive(metrics: Metrics, post: (message: FromThread) => void): Promise<never> {
  for (;;) {
    post({ kind: 'alive', metrics: await metrics.snapshot() });
    await sleep(realClock, ALIVE_PERIOD_MS);
  }
}

async function stop(
  part: ServedPart,
  { calls, graceMs, post }: { calls: CallServer; graceMs: number; post: (message: FromThread) => void },
): Promise<void> {
  await Promise.all([part.stop(graceMs), calls.stop(graceMs)]);
  await part.close();
  post({ kind: 'stopped', metrics: await part.metrics.snapshot() });
}

/** Runs the calls of other threads. */
class CallServer {
  readonly #calls: Calls;
  readonly #port: Pick<MessagePort, 'postMessage'>;
  readonly #running = new Set<Promise<void>>();
  #isStopping = false;

  constructor(calls: Calls, port: Pick<MessagePort, 'postMessage'>) {
    this.#calls = calls;
    this.#port = port;
  }

  run({ id, name, input }: { id: number; name: string; input: unknown }): void {
    const done = this.#attempt(name, input)
      .then((value) => this.#answer({ kind: 'answer', id, value }))
      .catch((error) => this.#answer({ kind: 'answer', id, error: encodeError(error) }))
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  /** Refuses further calls, and waits at most `graceMs` for those under way. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await Promise.race([Promise.all(this.#running), sleep(realClock, graceMs)]);
  }

  async #attempt(name: string, input: unknown): Promise<unknown> {
    if (this.#isStopping)
      throw new AppError('unavailable', 'The daemon is stopping', { retryAfterSeconds: 5 });
    const call = Object.hasOwn(this.#calls, name) ? this.#calls[name] : undefined;
    if (!call) throw new Error(`the thread has no call "${name}"`);
    return call(input as never);
  }

  /** A value that cannot be cloned throws, and the caller then receives that error. */
  #answer(answer: FromThread): void {
    this.#port.postMessage(answer);
  }
}
