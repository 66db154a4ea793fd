/** Types that every command uses, and what commands share. */
import type { Connection, EarlyConnection, UserConnection } from '../connection-state.ts';
import type { OpenMaildrop } from '../open-maildrop.ts';
import type { Admission, Refusal } from '../session.ts';

/** Answers a command with -ERR, or with +OK and the text. A command that has sent its response by itself is `answered`. */
export type Result = Refusal | Success | undefined | 'answered';
type Success = {
  text?: string;
  /** Returns what continues the connection once the response was sent. */
  next?: () => Promise<Connection | Admission>;
};

export type Command = {
  /** State in which the command is valid. */
  state: 'authorization' | 'transaction' | 'any';
  /** Runs the command. `argument` is everything after the first space. */
  run(connection: Connection, argument: string): Promise<Result>;
};

/** Returns a refusal without a response code. */
export function refuse(text: string): Refusal {
  return { refused: true, text };
}

/** Returns the response code and the text as they follow -ERR. */
export function responseText({ code, text }: Refusal): string {
  return code === undefined ? text : `[${code}] ${text}`;
}

/** Returns the connection of a command that is valid before login only. */
export function earlyOf(connection: Connection): EarlyConnection {
  if (!connection.session) throw new Error('the user has logged in');
  return connection;
}

/** Returns the connection of a command that is valid after login only. */
export function userOf(connection: Connection): UserConnection {
  if (connection.session) throw new Error('there is no maildrop before login');
  return connection;
}

export function dropOf(connection: Connection): OpenMaildrop {
  return userOf(connection).drop;
}

/** A message-number: 100,000 messages have six digits, and nobody has a billion. */
const NUMBER = /^\d{1,9}$/;

/** Returns the index of the message with this number, which is not marked as deleted. */
export function findMessage(drop: OpenMaildrop, number: string): number | Refusal {
  if (!NUMBER.test(number)) return refuse('The command needs the number of a message');
  const index = Number(number) - 1;
  return drop.has(index) ? index : refuse('There is no such message');
}

/** Returns the refusal of a command that has arguments and takes none. */
export function refuseArgument(argument: string): Refusal | undefined {
  return argument.trim() === '' ? undefined : refuse('The command has no arguments');
}

/** Size of a slice of a long response. Our own choice. */
const SLICE_CHARACTERS = 16 * 1024;

/** Sends a multi-line response whose lines need no dots, while the client reads it. @throws ConnectionFault; ClientGone */
export async function sendLines(
  { wire, context }: Connection,
  first: string,
  lines: Iterable<string>,
): Promise<'answered'> {
  let held = `${first}\r\n`;
  for (const line of lines) {
    held += `${line}\r\n`;
    if (held.length < SLICE_CHARACTERS) continue;
    wire.send(held);
    held = '';
    await wire.drain({ timeoutMs: context.limits.readMs, reason: 'slow_reader' });
    await context.pause();
  }
  wire.send(`${held}.\r\n`);
  return 'answered';
}
