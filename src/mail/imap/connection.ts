/**
 * One connection: TLS, greeting, commands. Commands run one after the other, and each is answered
 * before the next one begins, also when a client sends many at once. Each command has a file in `commands/`.
 */

import type { Socket } from 'node:net';
import { AppError } from '../../system/errors.ts';
import type { PortStream } from '../../system/thread/port-stream.ts';
import { countError, newConnection } from '../access/connection.ts';
import { ConnectionFault } from '../access/fault.ts';
import type { ServedUser } from '../access/serve-user.ts';
import type { ServedConnection } from '../access/server.ts';
import { clientOf } from '../connection/client.ts';
import { ClientGone } from '../connection/client-gone.ts';
import { attach, encrypt } from './attach.ts';
import { bad, CommandError, refusalFor } from './command-error.ts';
import {
  type Command,
  framingLimits,
  type Result,
  responseText,
  sendUntagged,
  userOf,
} from './commands/command.ts';
import { sendChanges } from './commands/idle.ts';
import { currentCapabilities } from './commands/session.ts';
import { COMMANDS } from './commands/table.ts';
import type {
  Connection,
  EarlyConnection,
  ImapContext,
  ListenerContext,
  UserConnection,
} from './connection-state.ts';
import type { FramedCommand } from './framing.ts';
import { Cursor } from './parser/cursor.ts';
import { type Account, type Admission, type ImapClient, isRefusal } from './session.ts';

/** Begins a connection. @throws the error for which no session can be opened */
export function openConnection(context: ListenerContext, socket: Socket): ServedConnection {
  const session = context.options.openSession();
  let connection: EarlyConnection = attach(
    {
      ...newConnection(context, socket),
      ...FIRST,
      context,
      session,
      client: { ...clientOf(socket), id: {} },
      state: { name: 'not authenticated' },
    },
    socket,
  );
  return {
    get connection() {
      return connection;
    },
    hasLoggedIn: () => false,
    async encrypt() {
      connection = await encrypt(connection);
    },
    greet: () =>
      sendUntagged(
        connection,
        `OK [CAPABILITY ${currentCapabilities(connection)}] ${context.options.hostname} is ready`,
      ),
    async serveCommand() {
      const next = await runCommand(connection, await nextCommand(connection));
      const head = connection.client.id satisfies Head;
      if ('handover' in next) return { handover: next.handover, head, lostText: LOST };
      if (next.session) connection = next;
      return undefined;
    },
    close: () => session.close(),
  };
}

/** Begins the connection of a user who has logged in. */
export function openUser(
  context: ImapContext,
  { stream, head }: { stream: PortStream; head: Head },
  account: Account,
): ServedUser {
  context.noteId?.(head);
  let connection: UserConnection = attach(
    {
      ...FIRST,
      isOpen: true,
      context,
      stream,
      compression: undefined,
      state: { name: 'authenticated', account },
    },
    stream,
  );
  return {
    get connection() {
      return connection;
    },
    async serveCommand() {
      const next = await runCommand(connection, await nextCommand(connection));
      if (!('handover' in next) && !next.session) connection = next;
    },
  };
}

/** The listener says what the client has sent with ID before its login. */
export type Head = ImapClient['id'];

/** Last response to a client whose account can no longer be reached. */
const LOST = '[UNAVAILABLE] The mailbox is not available at the moment';

const FIRST = {
  features: { rev2: false, utf8: false, condstore: false, qresync: false, metadata: false },
  pushes: undefined,
};

/** Returns the next command. Until it comes, a client that has asked for it is told of changes. @throws ConnectionFault; ClientGone */
async function nextCommand(connection: Connection): Promise<FramedCommand> {
  const { context } = connection;
  while (connection.pushes) {
    userOf(connection).compression?.rest();
    const event = await connection.wire.waitForEvent(context.limits.commandMs);
    if (event === 'timeout') throw new ConnectionFault('idle', 'The client took too long');
    if (event === 'input') break;
    await sendChanges(connection, connection.pushes.kind);
  }
  return await connection.framing.readCommand(framingLimits(connection));
}

/** Runs a command and completes it, and returns what continues the connection. What is left of a command that was refused is read first. */
async function runCommand(connection: Connection, framed: FramedCommand): Promise<Connection | Admission> {
  // Some clients send one more CRLF after a message.
  if (framed.bytes.length === 0) return connection;
  const cursor = new Cursor(framed.bytes);
  const tag = readTag(cursor);
  const { completion, next } = await completeCommand(connection, async () => {
    if (framed.kind === 'too large') return refuseTooLarge(connection, cursor, framed);
    if (tag === undefined) return bad('The command needs a tag');
    const command = readCommand(connection, cursor);
    const result = await command.read(cursor, connection)(tag);
    if (command.changes !== 'none' && !isBye(result)) await sendChanges(connection, command.changes);
    return completionOf(command, result);
  });
  await connection.framing.skipCommand();
  connection.wire.send(`${tag ?? '*'} ${completion}\r\n`);
  await connection.wire.drain({ timeoutMs: connection.context.limits.readMs, reason: 'slow_reader' });
  if (connection.session && !completion.startsWith('OK')) countError(connection);
  return next ? await next() : connection;
}

/** Refuses a command that is too large, with the code of its literals where one is the cause. @throws CommandError */
function refuseTooLarge(
  connection: Connection,
  cursor: Cursor,
  { literalBytes }: Extract<FramedCommand, { kind: 'too large' }>,
): never {
  if (literalBytes !== undefined && !connection.session) {
    const { literals } = readCommand(connection, cursor);
    if (literals && literalBytes > literals.maxOctets)
      throw new CommandError('NO', `A literal has at most ${literals.maxOctets} octets`, literals.code);
  }
  return bad('The command is too large', 'LIMIT');
}

type Completed = { completion: string; next?: (() => Promise<Connection | Admission>) | undefined };

/** Returns what completes a command, also when it fails. @throws ConnectionFault; ClientGone */
async function completeCommand(connection: Connection, run: () => Promise<Completed>): Promise<Completed> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ConnectionFault || error instanceof ClientGone) throw error;
    if (error instanceof CommandError)
      return { completion: `${error.status} ${responseText({ code: error.code, text: error.message })}` };
    if (!(error instanceof AppError)) connection.context.log.error({ err: error }, 'IMAP session failed');
    const refusal = refusalFor(error);
    return { completion: `${refusal.refused} ${responseText(refusal)}` };
  }
}

/** Returns undefined when the line does not begin with a tag. */
function readTag(cursor: Cursor): string | undefined {
  try {
    return cursor.tag();
  } catch {
    return undefined;
  }
}

/** Returns the command whose name stands at the cursor. @throws CommandError */
function readCommand(connection: Connection, cursor: Cursor): Command {
  cursor.space();
  const first = cursor.word();
  const name = first === 'UID' && cursor.skip(' ') ? `UID ${cursor.word()}` : first;
  const command = COMMANDS.get(name);
  if (!command) return bad('The command is unknown');
  const state = connection.state.name;
  const { states } = command;
  const isValid =
    states === 'any' || states === state || (states === 'authenticated' && state === 'selected');
  if (isValid) return command;
  if (states === 'not authenticated') return bad('The user has logged in already');
  return bad(
    state === 'not authenticated' ? 'The command needs a login' : 'The command needs a selected mailbox',
  );
}

function isBye(result: Result): boolean {
  return isRefusal(result) && result.refused === 'BYE';
}

function completionOf({ name }: Command, result: Result): Completed {
  if (!isRefusal(result)) {
    const { noticed, text = `${name} completed`, next } = result ?? {};
    return { completion: `OK ${responseText({ code: noticed, text })}`, next };
  }
  if (result.refused === 'BYE') throw new ConnectionFault('session', responseText(result));
  return { completion: `${result.refused} ${responseText(result)}` };
}
