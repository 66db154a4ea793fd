/** The process as a command sees it. Tests pass a terminal that records the output. */
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { realClock } from '../system/clock.ts';
import { errorCode } from '../system/errors.ts';
import { CommandError } from './errors.ts';

export type Terminal = {
  env: Readonly<Record<string, string | undefined>>;
  /** True when a person can answer questions: standard input and output are a terminal. */
  interactive: boolean;
  /** Prints one or several lines on standard output. */
  print(text: string): void;
  /** Writes bytes on standard output, as fast as its reader takes them. It stops early when the reader has read enough. */
  write(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Prints one or several lines on standard error. */
  complain(text: string): void;
  /** Returns the answer of a person. @throws CommandError at Ctrl-C */
  ask(question: string): Promise<string>;
  /**
   * Returns a password: the answer of a person, which the terminal does not show, or else the first line of standard input without its line end.
   * @throws CommandError at Ctrl-C
   */
  readPassword(question: string): Promise<string>;
  /** Returns the lines of standard input, without their line ends. */
  readLines(): AsyncIterable<string>;
  /**
   * Resolves at the first SIGTERM or SIGINT after the call, and when the terminal of a person is closed. Another signal, a second or more later, ends the process
   * at once.
   */
  untilStopped(): Promise<void>;
  /**
   * Calls `run` at each SIGHUP from now on, unless a person sits at the terminal: SIGHUP then reports that it was closed.
   */
  onReload(run: () => void): void;
};

/** Exit code that shells report for a process that a signal has ended (128 + 2). */
const INTERRUPTED = 130;

/**
 * Time within which repeated signals count as one. A terminal signals its whole process group, and npm signals its
 * child once more.
 */
const SIGNAL_ECHO_MS = 1_000;

/** Returns the environment of this process, which no other file of the command line reads. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}

/** Returns the terminal of this process. `echoMs` is for tests. */
export function processTerminal(echoMs = SIGNAL_ECHO_MS): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', unlessClosed);
  const isInteractive = process.stdin.isTTY === true && process.stdout.isTTY === true;
  return {
    env: processEnvironment(),
    interactive: isInteractive,
    print: (text) => void process.stdout.write(`${text}\n`),
    write: writeOut,
    complain: (text) => void process.stderr.write(`${text}\n`),
    ask: (question) =>
      readAnswer(createInterface({ input: process.stdin, output: process.stdout }), question),
    readPassword: (question) => (process.stdin.isTTY ? askUnseen(question) : readFirstLine()),
    readLines: () => createInterface({ input: process.stdin }),
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
        // The terminal is closed.
        if (isInteractive) process.on('SIGHUP', stop);
      }),
    onReload(run) {
      if (!isInteractive) process.on('SIGHUP', run);
    },
  };
}

/** Returns the answer; empty when the input ends. @throws CommandError at Ctrl-C */
async function readAnswer(lines: Interface, question: string): Promise<string> {
  try {
    return await new Promise((resolve, reject) => {
      lines.once('SIGINT', () => reject(new CommandError('stopped by Ctrl-C')));
      lines.once('close', () => resolve(''));
      lines.question(question).then(resolve, reject);
    });
  } finally {
    lines.close();
  }
}

/** Asks on standard error, because standard output may go to a file or another program. */
async function askUnseen(question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  // With `terminal`, the interface switches the echo of the terminal off, and shows what is typed on its output alone.
  const lines = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 });
  process.stderr.write(question);
  try {
    return await readAnswer(lines, '');
  } finally {
    process.stderr.write('\n');
  }
}

async function readFirstLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return '';
}

async function writeOut(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of bytes) {
    const error = await new Promise<Error | null | undefined>((resolve) => {
      process.stdout.write(piece, resolve);
    });
    if (error) return unlessClosed(error);
  }
}

/** Ignores a closed output. The reader may have read enough, as `head` does. */
function unlessClosed(error: Error): void {
  if (errorCode(error) !== 'EPIPE') throw error;
}
