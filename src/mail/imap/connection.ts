/**
 * One connection from its first byte to its last: TLS, greeting, commands. Commands run one after the other, and each is answered
 * before the next one begins, also when a client sends many at once. Each command has a file in `commands/`.
 */
import type { Socket } from 'node:net';
import { plainAddress } from '../../system/address-block.ts';
import { AppError } from '../../system/errors.ts';
import { attachWire } from './attach-wire.ts';
import { bad, CommandError } from './command-error.ts';
import { currentCapabilities } from './commands/capability.ts';
import {
  type Command,
  type Connection,
  framingLimits,
  type ImapContext,
  type Result,
  responseText,
  sendUntagged,
} from './commands/command.ts';
import { sendChanges } from './commands/idle.ts';
import { COMMANDS } from './commands/table.ts';
import { encrypt } from './encrypt.ts';
import { ClientGone, ConnectionFault } from './fault.ts';
import type { FramedCommand } from './framing.ts';
import { Cursor } from './parser/cursor.ts';
import { refusalFor } from './refusal.ts';
import { isRefusal } from './session.ts';

/** Serves one connection until it has ended. Rejects only when no session can be opened. */
export async function serveConnection(context: ImapContext, socket: Socket): Promise<void> {
  const connection = openConnection(context, socket);
  let isClosed = false;
  const closeSession = (): void => {
    if (!isClosed) connection.session.close();
    isClosed = true;
  };
  // A command ends with its connection, however long it would take.
  socket.once('close', closeSession);
  context.connections.add(connection);
  try {
    const { tls, hostname } = context.options;
    context.limitAddress(connection.client.address);
    if (tls?.mode === 'immediate') await encrypt(connection, tls.certificates);
    context.metrics.connectionBegan();
    sendUntagged(connection, `OK [CAPABILITY ${currentCapabilities(connection)}] ${hostname} is ready`);
    while (connection.isOpen) {
      if (context.shutdown) throw context.shutdown;
      await runCommand(connection, await nextCommand(connection));
    }
  } catch (error) {
    reportEnd(connection, error);
  } finally {
    context.connections.delete(connection);
    closeSession();
    connection.wire.end();
  }
}

function openConnection(context: ImapContext, socket: Socket): Connection {
  return attachWire(
    {
      context,
      session: context.options.openSession(),
      client: {
        address: plainAddress(socket.remoteAddress ?? ''),
        port: socket.remotePort ?? 0,
        localAddress: plainAddress(socket.localAddress ?? ''),
        localPort: socket.localPort ?? 0,
        tls: undefined,
        id: {},
      },
      state: { name: 'not authenticated' },
      features: { rev2: false, utf8: false, condstore: false, qresync: false, metadata: false },
      pushes: undefined,
      beganAt: context.clock.elapsed(),
      socket,
      compression: undefined,
      errors: 0,
      isOpen: true,
    },
    socket,
  );
}

/** Returns the next command. Until it comes, a client that has asked for it is told of changes. @throws ConnectionFault; ClientGone */
async function nextCommand(connection: Connection): Promise<FramedCommand> {
  const { context } = connection;
  while (connection.pushes) {
    connection.compression?.rest();
    const event = await connection.wire.waitForEvent(context.limits.commandMs);
    if (event === 'timeout') throw new ConnectionFault('idle', 'The client took too long');
    if (event === 'input') break;
    await sendChanges(connection, connection.pushes.kind);
  }
  return await connection.framing.readCommand(framingLimits(connection));
}

/** Runs a command and completes it. What is left of a command that was refused is read first. */
async function runCommand(connection: Connection, framed: FramedCommand): Promise<void> {
  // Some clients send one more CRLF after a message.
  if (framed.bytes.length === 0) return;
  const cursor = new Cursor(framed.bytes);
  const tag = readTag(cursor);
  const { completion, afterwards } = await completeCommand(connection, async () => {
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
  await afterwards?.();
  countErrors(connection, completion);
}

/** Refuses a command that is too large, with the code of its literals where one is the cause. @throws CommandError */
function refuseTooLarge(
  connection: Connection,
  cursor: Cursor,
  { literalBytes }: Extract<FramedCommand, { kind: 'too large' }>,
): never {
  if (literalBytes !== undefined && connection.state.name !== 'not authenticated') {
    const { literals } = readCommand(connection, cursor);
    if (literals && literalBytes > literals.maxOctets)
      throw new CommandError('NO', `A literal has at most ${literals.maxOctets} octets`, literals.code);
  }
  return bad('The command is too large', 'LIMIT');
}

type Completed = { completion: string; afterwards?: (() => Promise<void>) | undefined };

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
    const { noticed, text = `${name} completed`, afterwards } = result ?? {};
    return { completion: `OK ${responseText({ code: noticed, text })}`, afterwards };
  }
  if (result.refused === 'BYE') throw new ConnectionFault('session', responseText(result));
  return { completion: `${result.refused} ${responseText(result)}` };
}

/** Ends the connection of a client that guesses. */
function countErrors(connection: Connection, completion: string): void {
  if (connection.state.name !== 'not authenticated' || completion.startsWith('OK')) return;
  if (++connection.errors >= connection.context.limits.earlyErrors)
    throw new ConnectionFault('errors', 'Too many errors');
}

/** Tells the client why the connection ends, where it does not know. */
function reportEnd({ context, wire, socket }: Connection, error: unknown): void {
  if (error instanceof ClientGone) return;
  if (error instanceof ConnectionFault) {
    if (socket.destroyed) return;
    context.metrics.ended(error.reason);
    if (error.bye !== undefined) wire.send(`* BYE ${error.bye}\r\n`);
    return;
  }
  context.log.error({ err: error }, 'IMAP connection failed');
  wire.send('* BYE [SERVERBUG] The connection failed\r\n');
}
