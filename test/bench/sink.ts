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

const SMTP_SINK = '/usr/sbin/smtp-sink';
const BACKLOG = 1000;
const START_TIMEOUT_MS = 10_000;
const TAIL_BYTES = 256;

export function sinkName(): string {
  return existsSync(SMTP_SINK) ? "Postfix's smtp-sink" : 'our own sink';
}

/** Either program writes a running counter into a file: the writing costs it less than a reader on a pipe would. */
export async function startSink(workspace: Workspace): Promise<Sink> {
  const file = join(workspace.newFolder('sink'), 'counter');
  const counter = openSync(file, 'a+');
  const port = await freePort();
  const program = existsSync(SMTP_SINK)
    ? startSmtpSink(port, counter)
    : startModule('sink-program.ts', { port, file });
  await until('the sink listens', START_TIMEOUT_MS, () => listens(port));
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
