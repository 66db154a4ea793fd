/** One connection: the greeting, and commands one after the other, each answered before the next one begins. */
import type { Socket } from 'node:net';
import { AppError } from '../../system/errors.ts';
import { countError, newConnection } from '../access/connection.ts';
import { ConnectionFault } from '../access/fault.ts';
import type { ServedConnection } from '../access/server.ts';
import { openWire } from '../access/wire.ts';
import { ClientGone } from '../connection/client-gone.ts';
import {
  type Connection,
  type ManageSieveContext,
  nextCommand,
  type Result,
  sendCapabilities,
} from './command.ts';
import { COMMANDS } from './commands/table.ts';
import { encrypt } from './encrypt.ts';
import type { FramedCommand } from './framing.ts';
import { writeCompletion } from './respond.ts';
import { isRefusal, type Refusal } from './session.ts';

/** Begins a connection. @throws the error for which no session can be opened */
export function openConnection(context: ManageSieveContext, socket: Socket): ServedConnection {
  const { tls, hostname, openSession } = context.options;
  // TLS begins a new connection in place of this one.
  let connection: Connection = {
    ...newConnection(context, socket),
    context,
    session: openSession(),
    account: undefined,
    wire: openWire(context.clock, socket),
  };
  return {
    get connection() {
      return connection;
    },
    hasLoggedIn: () => connection.account !== undefined,
    async encrypt() {
      if (tls) connection = await encrypt(connection, tls.certificates);
    },
    greet() {
      sendCapabilities(connection);
      connection.wire.send(writeCompletion('OK', { text: `${hostname} is ready` }));
    },
    async serveCommand() {
      connection = await runCommand(connection, await nextCommand(connection));
      return undefined;
    },
    close: () => connection.session.close(),
  };
}

/** Runs a command and completes it. Returns the connection that takes the next one. */
async function runCommand(connection: Connection, framed: FramedCommand): Promise<Connection> {
  if (framed.kind === 'complete' && framed.tokens.length === 0) return connection;
  const result = await completeCommand(connection, framed);
  if (isRefusal(result) && result.refused === 'BYE') throw new ConnectionFault('session', result.text);
  const hadLogin = connection.account !== undefined;
  connection.wire.send(writeCompletion(isRefusal(result) ? 'NO' : 'OK', result));
  await connection.wire.drain({ timeoutMs: connection.context.limits.readMs, reason: 'slow_reader' });
  if (isRefusal(result) && !hadLogin) countError(connection);
  return isRefusal(result) || !result?.next ? connection : await result.next();
}

/** Returns what completes a command, also when it fails. @throws ConnectionFault; ClientGone */
async function completeCommand(connection: Connection, framed: FramedCommand): Promise<Result> {
  try {
    return await run(connection, framed);
  } catch (error) {
    if (error instanceof ConnectionFault || error instanceof ClientGone) throw error;
    if (error instanceof AppError) return { refused: 'NO', code: 'TRYLATER', text: error.message };
    connection.context.log.error({ err: error }, 'ManageSieve session failed');
    return { refused: 'NO', code: 'TRYLATER', text: 'The server failed to process the command' };
  }
}

async function run(connection: Connection, framed: FramedCommand): Promise<Result> {
  if (framed.kind === 'too large')
    return { refused: 'NO', code: 'QUOTA/MAXSIZE', text: 'The command is too large' };
  if (framed.kind === 'malformed') return no(framed.text);
  const [name, ...args] = framed.tokens;
  const command = name?.kind === 'atom' ? COMMANDS.get(name.text.toUpperCase()) : undefined;
  if (!command) return no('The command is unknown');
  const state = connection.account ? 'authenticated' : 'not authenticated';
  if (command.states !== 'any' && command.states !== state)
    return no(connection.account ? 'The user has logged in already' : 'The command needs a login');
  const completed = await command.run(connection, args);
  return completed ? completed.result : no(`The arguments of ${command.name} are wrong`);
}

function no(text: string): Refusal {
  return { refused: 'NO', text };
}
