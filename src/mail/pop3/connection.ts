/**
 * One connection: TLS, greeting, commands. Commands run one after the other, and each is answered to its end before the next one
 * begins, also when a client sends many at once (RFC 2449 section 6.6).
 */
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { encodeProtocols } from '../../system/accept-tls.ts';
import { AppError } from '../../system/errors.ts';
import { countError, newConnection, startTls } from '../access/connection.ts';
import { ConnectionFault } from '../access/fault.ts';
import type { ServedConnection } from '../access/server.ts';
import { openWire } from '../access/wire.ts';
import { ClientGone } from '../connection/client-gone.ts';
import {
  type Command,
  type Connection,
  type Pop3Context,
  type Result,
  refuse,
  responseText,
} from './commands/command.ts';
import { COMMANDS } from './commands/table.ts';
import { readCommandLine } from './read-command-line.ts';
import { refusalFor } from './refusal.ts';
import { isRefusal, type Refusal } from './session.ts';

/** Protocol name of POP3 (RFC 7301, registered for port 995). */
export const PROTOCOLS = encodeProtocols(['pop3']);

/** Begins a connection. @throws the error for which no session can be opened */
export function openConnection(context: Pop3Context, socket: Socket): ServedConnection {
  const { tls, hostname, openSession } = context.options;
  const connection: Connection = {
    ...newConnection(context, socket),
    context,
    session: openSession(),
    wire: openWire(context.clock, socket),
    state: { name: 'authorization', user: undefined },
    isUtf8: false,
    async encrypt() {
      if (!tls) throw new ConnectionFault('tls_handshake', undefined);
      await startTls(connection, { certificates: tls.certificates, protocols: PROTOCOLS });
      connection.wire = openWire(context.clock, connection.socket);
    },
  };
  return {
    connection,
    hasLoggedIn: () => connection.state.name === 'transaction',
    encrypt: connection.encrypt,
    greet: () => connection.wire.send(`+OK ${hostname} is ready\r\n`),
    serveCommand: async () => await serveCommand(connection),
    close: () => connection.session.close(),
  };
}

async function serveCommand(connection: Connection): Promise<void> {
  const { context, wire } = connection;
  const line = await readCommandLine(connection, context.limits.commandBytes);
  const result = line === undefined ? refuse('The line is too long') : await runLine(connection, line);
  if (result !== 'answered') wire.send(`${formatResult(result)}\r\n`);
  await wire.drain({ timeoutMs: context.limits.readMs, reason: 'slow_reader' });
  if (result !== 'answered' && !isRefusal(result)) await result?.afterwards?.();
  if (isRefusalOf(result) && connection.state.name === 'authorization') countError(connection);
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
  const misplaced = refuseState(command, connection);
  if (misplaced) return misplaced;
  try {
    return await command.run(connection, space < 0 ? '' : text.slice(space + 1));
  } catch (error) {
    if (error instanceof ConnectionFault || error instanceof ClientGone) throw error;
    if (!(error instanceof AppError)) connection.context.log.error({ err: error }, 'POP3 session failed');
    return refusalFor(error);
  }
}

function refuseState({ state }: Command, connection: Connection): Refusal | undefined {
  if (state === 'any' || state === connection.state.name) return undefined;
  return refuse(state === 'transaction' ? 'The command needs a login' : 'The user has logged in already');
}
