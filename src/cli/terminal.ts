/** What a command sees of the process it runs in. Tests hand in one that keeps what was written. */
import { createInterface } from 'node:readline/promises';
import { realClock } from '../system/clock.ts';
import { errorCode } from '../system/errors.ts';

export type Terminal = {
  env: Readonly<Record<string, string | undefined>>;
  /** A person can be asked: standard input and output are a terminal. */
  interactive: boolean;
  /** One line, or several, on standard output. */
  print(text: string): void;
  /** The same on standard error. */
  complain(text: string): void;
  ask(question: string): Promise<string>;
  /**
   * Resolves at the first SIGTERM or SIGINT after the call. Another one, a second or more later, ends the process at once.
   */
  untilStopped(): Promise<void>;
};

/** As shells report a process that a signal ended (128 + 2). */
const INTERRUPTED = 130;

/** A terminal signals its whole group, and npm signals its child once more: both come within this time of each other. */
const SIGNAL_ECHO_MS = 1_000;

export function processTerminal(echoMs = SIGNAL_ECHO_MS): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', unlessClosed);
  return {
    env: process.env,
    interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    print: (text) => void process.stdout.write(`${text}\n`),
    complain: (text) => void process.stderr.write(`${text}\n`),
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: process.stdout });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
      }
    },
    untilStopped: () =>
      new Promise((resolve) => {
        let askedAt: number | undefined;
        const stop = () => {
          const now = realClock.elapsed();
          if (askedAt === undefined) resolve();
          else if (now - askedAt >= echoMs) process.exit(INTERRUPTED);
          askedAt ??= now;
        };
        process.on('SIGTERM', stop);
        process.on('SIGINT', stop);
      }),
  };
}

/** Whoever reads may have read enough, as `head` does. */
function unlessClosed(error: Error): void {
  if (errorCode(error) !== 'EPIPE') throw error;
}
