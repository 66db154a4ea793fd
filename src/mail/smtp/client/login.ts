/**
 * Logs a client in to a server (RFC 4954), by PLAIN (RFC 4616) or LOGIN. Both send the password itself, so the caller calls
 * this only in a session whose certificate was verified.
 */
import type { SmtpReply } from '../reply.ts';
import type { SmtpConnection } from './connection.ts';
import { protocolError, SmtpError } from './failure.ts';

export type SmtpLogin = { user: string; password: string };

/** Replaces a secret in a reply that quotes it. */
const HIDDEN = '***';

type Server = { extensions: ReadonlyMap<string, string>; timeoutMs: number };

/** Logs in, or throws why that failed. @throws SmtpError */
export async function logIn(connection: SmtpConnection, login: SmtpLogin, server: Server): Promise<void> {
  const lines = linesOf(login, server.extensions);
  for (const [index, line] of lines.entries()) {
    connection.send(`${line}\r\n`, 1);
    const reply = withoutSecrets(await readReply(connection, server.timeoutMs), login);
    if (reply.code >= 400) throw new SmtpError({ phase: 'auth', kind: 'reply', reply });
    const expected = index === lines.length - 1 ? 235 : 334;
    if (reply.code !== expected)
      throw protocolError('auth', `the peer answered ${reply.code} instead of ${expected}`);
  }
}

/** Returns the next reply. The error for bytes that are no reply quotes them, and they could be what the server was just sent. */
async function readReply(connection: SmtpConnection, timeoutMs: number): Promise<SmtpReply> {
  try {
    return await connection.read('auth', timeoutMs);
  } catch (error) {
    if (!(error instanceof SmtpError) || error.failure.kind !== 'protocol') throw error;
    throw protocolError('auth', 'the answer of the peer is no SMTP reply');
  }
}

/** Returns the lines of the client for the first mechanism that the server offers. */
function linesOf({ user, password }: SmtpLogin, extensions: ReadonlyMap<string, string>): readonly string[] {
  const offered = extensions.get('AUTH')?.toUpperCase().split(' ') ?? [];
  if (offered.includes('PLAIN')) return [`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`];
  if (offered.includes('LOGIN')) return ['AUTH LOGIN', base64(user), base64(password)];
  throw new SmtpError({
    phase: 'auth',
    kind: 'protocol',
    message: 'the host offers neither AUTH PLAIN nor AUTH LOGIN',
  });
}

/** Removes the password from a reply, in each form in which the server has seen it: replies are stored, logged and shown. */
function withoutSecrets(reply: SmtpReply, { user, password }: SmtpLogin): SmtpReply {
  const secrets = [base64(`\0${user}\0${password}`), base64(password), password];
  const hide = (line: string) => secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), line);
  return { ...reply, lines: reply.lines.map(hide) };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
