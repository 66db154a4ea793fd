/** Types that every command uses, and what commands share. */
import { bad, CommandError } from '../command-error.ts';
import type { Connection, EarlyConnection, UserConnection } from '../connection-state.ts';
import { type TextForm, textFormOf } from '../encode/strings.ts';
import type { FramingLimits } from '../framing.ts';
import type { Cursor } from '../parser/cursor.ts';
import { reportProgress } from '../progress.ts';
import type { Account, Admission, Chunks, Features, Refusal, SelectedMailbox } from '../session.ts';

/**
 * Completes a command. A refusal is NO or BAD. Otherwise the command completes with OK: with the response code and the text where
 * they are given.
 */
export type Result = Refusal | Completion | undefined;
type Completion = {
  noticed?: string;
  text?: string;
  /** Returns what continues the connection once the completion was sent. */
  next?: () => Promise<Connection | Admission>;
};

export type Command = {
  name: string;
  /** States in which the command is valid. `authenticated` includes the selected state. */
  states: 'any' | 'not authenticated' | 'authenticated' | 'selected';
  /** Untagged responses about changes that come before the completion. With `none` the command sends them itself, or there are none. */
  changes: 'all' | 'withoutExpunge' | 'none';
  /** The refusal of literals that are larger than the command takes. */
  literals?: LiteralLimit | undefined;
  /** Reads the arguments, and returns what runs the command. @throws CommandError when the arguments are malformed */
  read(cursor: Cursor, connection: Connection): (tag: string) => Promise<Result>;
};

/** Literals above this size are refused with NO and a response code. */
type LiteralLimit = { maxOctets: number; code: string };

type Definition<Arguments> = {
  name: string;
  states: Command['states'];
  /** The default is `all`. */
  changes?: Command['changes'];
  /** The command may take long, and every response that it sends ends with a complete line (progress.ts). */
  isLong?: boolean;
  literals?: LiteralLimit;
  /** Messages follow the arguments, and the command reads them as it runs. */
  hasMessages?: boolean;
  /** Reads the arguments from the space in front of them. */
  parse(cursor: Cursor, connection: Connection): Arguments;
  run(connection: Connection, args: Arguments, tag: string): Promise<Result>;
};

/** Returns a command whose arguments are read before it runs. */
export function defineCommand<Arguments>(definition: Definition<Arguments>): Command {
  return {
    name: definition.name,
    states: definition.states,
    changes: definition.changes ?? 'all',
    literals: definition.literals,
    read(cursor, connection) {
      const args = definition.parse(cursor, connection);
      if (!definition.hasMessages) cursor.end();
      const isReported = definition.isLong === true && offersProgress(connection);
      return (tag) => {
        if (!isReported) return definition.run(connection, args, tag);
        const client = { wire: connection.wire, clock: connection.context.clock };
        return reportProgress(client, tag, () => definition.run(connection, args, tag));
      };
    },
  };
}

function offersProgress({ state }: Connection): boolean {
  return state.name !== 'not authenticated' && !state.account.disabledCapabilities.includes('INPROGRESS');
}

/** Reads nothing, for a command without arguments. */
export function noArguments(): void {}

/** Returns the connection of a command that is valid before login only. @throws CommandError after it */
export function earlyOf(connection: Connection): EarlyConnection {
  return connection.session ? connection : bad('The user has logged in already');
}

/** Returns the connection of a command that is valid after login only. @throws CommandError before it */
export function userOf(connection: Connection): UserConnection {
  return connection.session ? bad('The command needs a login') : connection;
}

/** Returns the account of the user. @throws CommandError before login */
export function accountOf(connection: Connection): Account {
  return userOf(connection).state.account;
}

/** Returns the selected mailbox. @throws CommandError when there is none */
export function selectedOf({ state }: Connection): SelectedMailbox {
  if (state.name !== 'selected') throw new CommandError('BAD', 'The command needs a selected mailbox');
  return state.selected;
}

/** Returns the selected mailbox. @throws CommandError when its messages cannot be changed */
export function writableOf(connection: Connection): SelectedMailbox {
  const selected = selectedOf(connection);
  if (connection.state.name === 'selected' && connection.state.readOnly)
    throw new CommandError('NO', 'The mailbox was opened read-only', 'READ-ONLY');
  return selected;
}

/** Returns how the client reads and writes text that is not ASCII. */
export function textForm({ features }: Connection): TextForm {
  return textFormOf(features);
}

/** Returns the limits of the next command. */
export function framingLimits({ state, context: { limits } }: Connection): FramingLimits {
  if (state.name === 'not authenticated')
    return { commandBytes: limits.earlyCommandBytes, literalBytes: limits.earlyLiteralBytes };
  return { commandBytes: limits.commandBytes, literalBytes: limits.commandBytes };
}

/** Sends one untagged response without its CRLF. */
export function sendUntagged({ wire }: Pick<Connection, 'wire'>, response: string): void {
  wire.send(`* ${response}\r\n`);
}

/** Sends responses while the client reads them, and returns what completes the command. @throws ConnectionFault; ClientGone */
export async function sendChunks({ wire, context }: Connection, chunks: Chunks): Promise<Result> {
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done) return next.value;
      if (next.value.length > 0) wire.send(next.value);
      await wire.drain({ timeoutMs: context.limits.readMs, reason: 'slow_reader' });
    }
  } finally {
    await chunks.return(undefined);
  }
}

/** Turns on features that are not on yet. */
export function enableFeatures(connection: Connection, added: Partial<Features>): void {
  const features = { ...connection.features, ...added };
  const isNew = Object.keys(added).some(
    (name) => connection.features[name as keyof Features] !== features[name as keyof Features],
  );
  if (!isNew) return;
  connection.features = features;
  if (connection.state.name !== 'not authenticated') connection.state.account.enable(features);
}

/** Returns the response code and the text as they follow OK, NO, BAD or BYE. */
export function responseText({ code, text }: { code?: string | undefined; text: string }): string {
  return code ? `[${code}] ${text}` : text;
}
