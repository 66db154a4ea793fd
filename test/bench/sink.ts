/**
 * The far end: Postfix's smtp-sink where it is installed, our own otherwise. Both count the messages they have taken,
 * and what is delivered is what they counted.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, listens } from '../support/loopback.ts';
import { type Program, startModule, startProgram, until } from './program.ts';
import type { Workspace } from './workspace.ts';

export type Sink = AsyncDisposable & {
  port: number;
  pid: number;
  /** Messages whose final dot has arrived and is answered with 250. */
  messages(): number;
};

/** Abilities of the sink of this benchmark, which smtp-sink does not have. */
export type SinkOptions = {
  /** Addresses that it listens on, instead of 127.0.0.1 alone. */
  addresses?: readonly string[];
  /** Time from what a client says to the reply. */
  delayMs?: number;
  /** An address with another delay, whose messages are not counted. */
  slow?: { address: string; delayMs: number };
  /** Certificate for STARTTLS, in PEM. */
  tls?: { chain: string; key: string };
};

const SMTP_SINK = '/usr/sbin/smtp-sink';
const BACKLOG = 1000;
const START_TIMEOUT_MS = 10_000;
const TAIL_BYTES = 256;

export function sinkName(): string {
  return existsSync(SMTP_SINK) ? "Postfix's smtp-sink" : 'our own sink';
}

/** Starts Postfix's smtp-sink where it is installed, and the sink of ours elsewhere and with options. */
export async function startSink(workspace: Workspace, options?: SinkOptions): Promise<Sink> {
  const file = join(workspace.newFolder('sink'), 'counter');
  const counter = openSync(file, 'a+');
  const port = await freePort();
  // Either program writes a running counter into a file: the writing costs it less than a reader on a pipe would.
  const program =
    existsSync(SMTP_SINK) && !options
      ? startSmtpSink(port, counter)
      : startModule('sink-program.ts', { port, file, ...options });
  const [host] = options?.addresses ?? [];
  await until('the sink listens', START_TIMEOUT_MS, () => listens(port, host));
  return {
    port,
    pid: program.pid,
    messages: () => Number(/.*mesg=(\d+)/s.exec(tail(counter))?.[1] ?? 0),
    async [Symbol.asyncDispose]() {
      await program.stop();
      closeSync(counter);
    },
  };
}

/** smtp-sink(1): -c counts on standard output, one overwritten line; as root it wants a user to become. */
function startSmtpSink(port: number, counter: number): Program {
  const user = process.getuid?.() === 0 ? ['-u', 'postfix'] : [];
  return startProgram(SMTP_SINK, ['-c', ...user, `127.0.0.1:${port}`, String(BACKLOG)], {
    stdio: ['ignore', counter, 'ignore'],
  });
}

function tail(file: number): string {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
  readSync(file, bytes, 0, bytes.length, size - bytes.length);
  return bytes.toString('latin1');
}
