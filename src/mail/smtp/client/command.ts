/** Sends commands and reads their replies, both of which an observer may see (events.ts). */
import type { SmtpReply } from '../reply.ts';
import type { SmtpConnection } from './connection.ts';
import type { SmtpObserver } from './events.ts';
import type { SmtpPhase } from './failure.ts';

type Sent = {
  /** One or several commands, each with its line end. */
  commands: string;
  /** Number of replies that the server gives to them. */
  replies: number;
  observer: SmtpObserver | undefined;
};

/** Sends commands. When the connection has ended, the next read throws. */
export function sendCommands(connection: SmtpConnection, { commands, replies, observer }: Sent): void {
  connection.send(commands, replies);
  observer?.({ kind: 'sent', commands });
}

type Wait = { phase: SmtpPhase; timeoutMs: number; observer: SmtpObserver | undefined };

/** Returns the next reply and waits for it if necessary. @throws SmtpError */
export async function readReply(
  connection: SmtpConnection,
  { phase, timeoutMs, observer }: Wait,
): Promise<SmtpReply> {
  const reply = await connection.read(phase, timeoutMs);
  observer?.({ kind: 'received', reply });
  return reply;
}

/** Sends one command, without its line end, and returns the reply to it. @throws SmtpError */
export function command(
  connection: SmtpConnection,
  { line, ...wait }: Wait & { line: string },
): Promise<SmtpReply> {
  sendCommands(connection, { commands: `${line}\r\n`, replies: 1, observer: wait.observer });
  return readReply(connection, wait);
}
