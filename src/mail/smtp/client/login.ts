/**
 * Logs a client in to a server (RFC 4954), by PLAIN (RFC 4616) or LOGIN. Both send the password itself, so the caller calls
 * this only in a session whose certificate was verified.
 */
import type { SmtpReply } from '../reply.ts';
import type { SmtpConnection } from './connection.ts';
import type { SmtpObserver } from './events.ts';
import { protocolError, SmtpError } from './failure.ts';

export type SmtpLogin = { user: string; password: string };

/** Replaces a secret. */
const HIDDEN = '***';

type Server = {
  extensions: ReadonlyMap<string, string>;
  timeoutMs: number;
  observer?: SmtpObserver | undefined;
};

/** Logs in, or throws why that failed. The observer sees no secrets. @throws SmtpError */
export async function logIn(connection: SmtpConnection, login: SmtpLogin, server: Server): Promise<void> {
  const { extensions, timeoutMs, observer } = server;
  const lines = linesOf(login, extensions);
  const secrets = secretsOf(login);
  for (const [index, { line, shown }] of lines.entries()) {
    connection.send(`${line}\r\n`, 1);
    observer?.({ kind: 'sent', commands: `${shown}\r\n` });
    const reply = withoutSecrets(await readReply(connection, timeoutMs), secrets);
    // A challenge is for the client alone, and may repeat what it has sent.
    observer?.({ kind: 'received', reply: reply.code === 334 ? { ...reply, lines: [HIDDEN] } : reply });
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

/** A line of the client, and the form in which it may be shown. */
type LoginLine = { line: string; shown: string };

/** Returns the lines of the client for the first mechanism that the server offers. */
function linesOf(
  { user, password }: SmtpLogin,
  extensions: ReadonlyMap<string, string>,
): readonly LoginLine[] {
  const offered = extensions.get('AUTH')?.toUpperCase().split(' ') ?? [];
  if (offered.includes('PLAIN'))
    return [{ line: `AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, shown: `AUTH PLAIN ${HIDDEN}` }];
  if (offered.includes('LOGIN'))
    return [
      { line: 'AUTH LOGIN', shown: 'AUTH LOGIN' },
      ...[user, password].map((secret) => ({ line: base64(secret), shown: HIDDEN })),
    ];
  throw new SmtpError({
    phase: 'auth',
    kind: 'protocol',
    message: 'the host offers neither AUTH PLAIN nor AUTH LOGIN',
  });
}

/** The secrets of a login, as plain data. */
export type LoginSecrets = {
  /** The password, and all that was sent in base64. */
  texts: readonly string[];
  user: string;
};

/** Returns what replies of the server must not show, in each form in which the server has seen it. */
export function secretsOf({ user, password }: SmtpLogin): LoginSecrets {
  return { texts: [base64(`\0${user}\0${password}`), base64(password), base64(user), password], user };
}

/** Characters with a meaning in patterns. */
const SYNTAX = /[\\^$.*+?()[\]{}|]/g;

/**
 * Removes secrets from a text of the server: its replies are stored, logged and shown. The user name counts as a word of its own alone, in
 * upper or lower case, so that the name `post` leaves the word `postmaster` as it is.
 */
export function hideSecrets(text: string, { texts, user }: LoginSecrets): string {
  const left = texts.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
  const isUser = new RegExp(`(?<![\\p{L}\\p{N}])${user.replaceAll(SYNTAX, '\\$&')}(?![\\p{L}\\p{N}])`, 'giu');
  return left.replace(isUser, HIDDEN);
}

/** Removes secrets from a reply. */
export function withoutSecrets(reply: SmtpReply, secrets: LoginSecrets): SmtpReply {
  return { ...reply, lines: reply.lines.map((line) => hideSecrets(line, secrets)) };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
