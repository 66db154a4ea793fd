/**
 * One connection: TLS, greeting, commands. Commands run one after the other, and each is answered to its end before the next one
 * begins, also when a client sends many at once (RFC 2449 section 6.6).
 */
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { AppError } from '../../system/errors.ts';
import type { PortStream } from '../../system/thread/port-stream.ts';
import { countError, newConnection } from '../access/connection.ts';
import { ConnectionFault } from '../access/fault.ts';
import type { UserNote } from '../access/handover.ts';
import type { ServedUser } from '../access/serve-user.ts';
import type { ServedConnection } from '../access/server.ts';
import { openWire } from '../access/wire.ts';
import { ClientGone } from '../connection/client-gone.ts';
import { lastingCapabilities } from './capabilities.ts';
import { type Result, refuse, responseText } from './commands/command.ts';
import { buildAnswer } from './commands/retr.ts';
import { COMMANDS } from './commands/table.ts';
import type {
  Connection,
  EarlyConnection,
  Head,
  ListenerContext,
  Pop3Context,
  UserConnection,
} from './connection-state.ts';
import { encrypt } from './encrypt.ts';
import { OpenMaildrop } from './open-maildrop.ts';
import { readCommandLine } from './read-command-line.ts';
import { RetrievalsAhead } from './retrievals-ahead.ts';
import { type Admission, isRefusal, type Maildrop, type Refusal } from './session.ts';

/** Begins a connection. @throws the error for which no session can be opened */
export function openConnection(context: ListenerContext, socket: Socket): ServedConnection {
  const session = context.options.openSession();
  let connection: EarlyConnection = {
    ...newConnection(context, socket),
    context,
    session,
    wire: openWire(context.clock, socket),
    user: undefined,
    isUtf8: false,
  };
  return {
    get connection() {
      return connection;
    },
    hasLoggedIn: () => false,
    async encrypt() {
      connection = await encrypt(connection);
    },
    greet: () => connection.wire.send(`+OK ${context.options.hostname} is ready\r\n`),
    async serveCommand() {
      const next = await serveCommand(connection);
      if ('handover' in next) {
        const head: Head = { isUtf8: connection.isUtf8, capabilities: lastingCapabilities(connection) };
        return { handover: next.handover, head, lostText: 'The mailbox is not available at the moment' };
      }
      if (next.session) connection = next;
      return undefined;
    },
    close: () => session.close(),
  };
}

/** Begins the connection of a user who has logged in. */
export function openUser(
  context: Pop3Context,
  { stream, head }: { stream: PortStream; head: Head },
  maildrop: Maildrop,
): ServedUser {
  const drop = new OpenMaildrop(maildrop);
  const ahead = new RetrievalsAhead({
    send: (answers) => sendAhead(stream, { kind: 'ahead', ahead: answers }),
    sizeOf: (index) => (drop.has(index) ? drop.sizeOf(index) : undefined),
    build: (index) => buildAnswer({ drop, isUtf8: head.isUtf8 }, index),
  });
  const connection: UserConnection = {
    ...head,
    context,
    wire: openWire(context.clock, stream),
    isOpen: true,
    drop,
    ahead,
  };
  return {
    connection,
    serveCommand: async () => void (await serveCommand(connection)),
    noteAnswered: (commands) => ahead.noteLeft(commands),
  };
}

/** Sends answers ahead once the answers before them have left, which they do at the end of this turn unless the client reads slowly. */
function sendAhead(stream: PortStream, note: UserNote): void {
  setImmediate(() => {
    if (stream.writableLength === 0) stream.postNote(note);
  });
}

/** Runs a command and answers it, and returns what continues the connection. */
async function serveCommand(connection: Connection): Promise<Connection | Admission> {
  const { context, wire } = connection;
  const line = await readCommandLine(connection, context.limits.commandBytes);
  const result = line === undefined ? refuse('The line is too long') : await runLine(connection, line);
  if (result !== 'answered') wire.send(`${formatResult(result)}\r\n`);
  await wire.drain({ timeoutMs: context.limits.readMs, reason: 'slow_reader' });
  if (isRefusalOf(result) && connection.session) countError(connection);
  return result !== 'answered' && !isRefusal(result) && result?.next ? await result.next() : connection;
}

function isRefusalOf(result: Result): result is Refusal {
  return result !== 'answered' && isRefusal(result);
}

function formatResult(result: Exclude<Result, 'answered'>): string {
  if (isRefusal(result)) return `-ERR ${responseText(result)}`;
  return result?.text === undefined ? '+OK' : `+OK ${result.text}`;
}

/** Runs a command, and returns how it is answered, also when it fails. @throws ConnectionFault; ClientGone */
async function runLine(connection: Connection, line: Buffer): Promise<Result> {
  if (!isUtf8(line) || line.includes(0)) return refuse('The command has octets that are not text');
  const text = line.toString();
  const space = text.indexOf(' ');
  const name = (space < 0 ? text : text.slice(0, space)).toUpperCase();
  const command = COMMANDS.get(name);
  if (!command) return refuse('The command is unknown');
  const state = connection.session ? 'authorization' : 'transaction';
  if (command.state !== 'any' && command.state !== state)
    return refuse(connection.session ? 'The command needs a login' : 'The user has logged in already');
  try {
    return await command.run(connection, space < 0 ? '' : text.slice(space + 1));
  } catch (error) {
    if (error instanceof ConnectionFault || error instanceof ClientGone) throw error;
    if (!(error instanceof AppError)) connection.context.log.error({ err: error }, 'POP3 session failed');
    return refusalFor(error);
  }
}

/** The response to an error of the session. */

/** Maximum length of the text: a response has at most 512 octets with its code (RFC 2449 section 4). */
const MAX_TEXT_CHARACTERS = 400;

/** Returns the response to a command that failed. An error that is no refusal says nothing about itself; the caller logs it. */
function refusalFor(error: unknown): Refusal {
  if (!(error instanceof AppError))
    return { refused: true, code: 'SYS/PERM', text: 'The server failed to process the request' };
  const text = error.message.replace(/[^ -~]+/g, '?').slice(0, MAX_TEXT_CHARACTERS);
  return { refused: true, code: 'SYS/TEMP', text };
}
