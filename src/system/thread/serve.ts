/** The inside of a thread that runs a part of the daemon: it starts the part, and answers the main thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { realClock, sleep } from '../clock.ts';
import { LineBatches } from '../line-batches.ts';
import { createLog, type Log, type LogLevel, setLogLevel } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Wakeups } from '../wakeups.ts';
import { CallServer } from './calls.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';
import type { Calls, Part } from './part.ts';
import { createThreadWakeups } from './wakeups.ts';

/** The parts of the system that reach the main thread. */
export type ThreadHost = {
  /** Name of the thread. */
  name: string;
  wakeups: Wakeups;
  /** Returns a log that writes to that of the daemon and has its level, or the given one if that of the daemon has none. */
  openLog(level: LogLevel): Log;
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
  const { name, data, logLevel } = workerData as ThreadStart;
  const send = (message: FromThread) => port.postMessage(message);
  const lines = new LineBatches(realClock, (batch) => send({ kind: 'log', lines: batch }));
  /** Sends a message after the lines that were logged before it. */
  const post = (message: FromThread) => {
    lines.flush();
    send(message);
  };
  const wakeups = createThreadWakeups(realClock, post);
  const logs: Log[] = [];
  const openLog = (level: LogLevel) => {
    const log = createLog(logLevel ?? level, lines);
    logs.push(log);
    return log;
  };
  const part = await open(data, { name, wakeups, openLog });
  const calls = new CallServer(part.calls, { postMessage: post });
  port.on('message', (message: ToThread) => {
    switch (message.kind) {
      case 'log-level':
        for (const log of logs) setLogLevel(log, message.level);
        break;
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
  post({ kind: 'ready' });
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
