/** The load of mail by SMTP: Postfix's smtp-source, which costs little and sends HELO, so it never pipelines. */
import { SENDER } from './message.ts';
import type { LoadResult } from './observe.ts';
import { reapedCpuMs } from './process-tree.ts';
import { startProgram } from './program.ts';

export const SMTP_SOURCE = '/usr/sbin/smtp-source';

export type SmtpSourceLoad = {
  /** File of the message, with lines that end in LF. */
  message: string;
  messages: number;
  port: number;
  sessions: number;
  /** A number is put before it, so that each message has a recipient of its own. */
  recipient: string;
  sender?: string;
  /** A new connection for each message. By default each session keeps its connection. */
  reconnects?: boolean;
};

/** Runs smtp-source(1). It measures no latency. Rejects when the server refuses. */
export async function runSmtpSource(load: SmtpSourceLoad): Promise<LoadResult> {
  const startedAtMs = Date.now();
  const cpuBefore = reapedCpuMs();
  const program = startProgram(SMTP_SOURCE, [
    ...(load.reconnects ? [] : ['-d']),
    ...['-N', '-s', String(load.sessions), '-m', String(load.messages), '-F', load.message],
    ...['-f', load.sender ?? SENDER, '-t', load.recipient, `127.0.0.1:${load.port}`],
  ]);
  await program.ended;
  const endedAtMs = Date.now();
  return { startedAtMs, endedAtMs, p50Ms: Number.NaN, p99Ms: Number.NaN, cpuMs: reapedCpuMs() - cpuBefore };
}
