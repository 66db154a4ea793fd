/**
 * One connection from its first byte to its last: proxy header, TLS, banner, commands. Each command has a file in
 * `commands/`.
 */
import type { Socket } from 'node:net';
import { acceptTls } from '../../../system/accept-tls.ts';
import type { CertificateStore } from '../../../system/certificates.ts';
import { nextSlice } from '../../../system/slices.ts';
import { clientOf, tlsOf } from '../../connection/client.ts';
import { ClientGone } from '../../connection/client-gone.ts';
import { cutOff, sendLast } from '../../connection/last-word.ts';
import type { Interruptible } from '../../connection/listener.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { refusalReply } from '../refusal.ts';
import {
  ask,
  type Connection,
  fault,
  limitsOf,
  lineMs,
  READY_FOR_TLS,
  type SmtpContext,
  sendReply,
  splitLine,
  tooManyConnections,
} from './commands/command.ts';
import { COMMANDS } from './commands/table.ts';
import { ConnectionFault } from './fault.ts';
import { formatBareReply, formatReply, reply } from './format-reply.ts';
import { type ProxiedAddresses, readProxyHeader } from './proxy.ts';
import type { Reply } from './session.ts';
import { attachWire } from './wire.ts';

/** Matches lines of characters that commands may have. U+FFFD stands for bytes that are not UTF-8. */
const CLEAN_LINE = /^[^\p{Cc}\ufffd]*$/u;
const NOT_CLEAN = reply(500, '5.5.2', 'The command has characters that are not allowed');
const UNKNOWN: Reply = { code: 500, status: '5.5.1', text: 'The command is unknown' };
const EARLY: Reply = { code: 554, text: 'The client must wait for the banner' };
const OUT_OF_STEP = reply(503, '5.5.0', 'The client must wait for the reply to this command');
const NOT_SMTP: Reply = { code: 554, status: '5.5.1', text: 'This is an SMTP server' };
/** Methods of HTTP. A web page can make a browser send them here, with commands of SMTP in the body of the request. */
const FOREIGN_VERBS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
const TOO_MANY_ERRORS: Reply = { code: 421, status: '4.7.0', text: 'Too many errors; the connection ends' };
const TOO_MANY_COMMANDS = reply(421, '4.7.0', 'Too many commands without a message; the connection ends');

/** Serves one connection until it has ended. Rejects only when no session can be opened. */
export async function serveConnection(context: SmtpContext, socket: Socket): Promise<void> {
  // TLS begins a new connection in place of this one.
  let connection = openConnection(context, socket, {
    evict: () => evict(connection),
    end: (fault) => connection.wire.interrupt(fault, { isForced: true }),
  });
  const open: Interruptible<ConnectionFault> = { interrupt: (fault) => connection.wire.interrupt(fault) };
  context.connections.add(open);
  try {
    connection = await admit(connection);
    await sendBanner(connection);
    while (connection.isOpen) {
      if (context.shutdown) throw context.shutdown;
      connection = await runLine(connection, await connection.lines.read(lineMs(connection)));
    }
  } catch (error) {
    reportEnd(connection, error);
  } finally {
    context.connections.delete(open);
    connection.session.close();
    connection.wire.end();
  }
}

type Ends = { evict(): void; end(fault: ConnectionFault): void };

function openConnection(context: SmtpContext, socket: Socket, { evict, end }: Ends): Connection {
  const client = clientOf(socket);
  const connection: Connection = {
    ...attachWire(context.clock, socket),
    context,
    slot: context.occupancy.add({ socket, address: client.address, evict }),
    session: context.options.openSession({ end: (reply) => end(new ConnectionFault('session', reply)) }),
    socket,
    client: { ...client, helo: undefined, protocol: 'SMTP' },
    binding: undefined,
    beganAt: context.clock.elapsed(),
    transaction: undefined,
    counts: { errors: 0, idleCommands: 0, refusedRecipients: 0, deferredRecipients: 0 },
    isExempt: false,
    isOpen: true,
    isLoggedIn: false,
    maxRecipients: context.limits.recipients,
    hasNotifications: true,
    runLine: (line) => runLine(connection, line),
  };
  return connection;
}

/**
 * Sends the replies that are held back, runs the handshake, and returns the encrypted connection. Plaintext that came before counts as
 * part of the handshake, which then fails, so nothing of it is ever run as a command (CVE-2011-0411), and nothing that the client said in
 * plaintext counts any more (RFC 3207 section 4.2).
 * @throws ConnectionFault
 */
async function encrypt(plain: Connection, certificates: CertificateStore): Promise<Connection> {
  const { context, wire } = plain;
  wire.detach();
  const { handshakeMs: timeoutMs } = limitsOf(plain);
  const socket = await acceptTls(context.clock, plain.socket, { certificates, timeoutMs }).catch(() => {
    throw new ConnectionFault('tls_handshake', undefined);
  });
  const connection: Connection = {
    ...plain,
    ...attachWire(context.clock, socket),
    socket,
    binding: context.options.submission && channelBindingOf(socket),
    client: { ...plain.client, helo: undefined, protocol: 'SMTP', tls: tlsOf(socket) },
    runLine: (line) => runLine(connection, line),
  };
  return connection;
}

/** Learns who the client is, applies the limits of its address, and begins TLS where a listener does so at once. */
async function admit(connection: Connection): Promise<Connection> {
  const { context, client, socket } = connection;
  const { isProxy, tls } = context.options;
  const proxied = isProxy?.(client.address) ? await readProxiedAddresses(connection) : undefined;
  connection.client = { ...client, ...proxied };
  if (proxied) connection.slot.moveTo(proxied.address);
  connection.isExempt = !context.limitAddress(socket, connection.client.address, proxied !== undefined);
  if (connection.isExempt) connection.slot.enter('protected');
  return tls?.mode === 'immediate' ? await encrypt(connection, tls.certificates) : connection;
}

/** Reads the header of a proxy within the time for it. */
async function readProxiedAddresses({
  wire,
  context: { clock, limits },
}: Connection): Promise<ProxiedAddresses | undefined> {
  const until = clock.elapsed() + limits.proxyHeaderMs;
  let bytes = Buffer.alloc(0);
  for (;;) {
    const timeoutMs = until - clock.elapsed();
    bytes = Buffer.concat([bytes, await wire.read({ timeoutMs, reason: 'slow_data' })]);
    const header = readProxyHeader(bytes);
    if (header.kind === 'malformed') throw new ConnectionFault('proxy_header', undefined);
    if (header.kind === 'incomplete') continue;
    wire.unread(bytes.subarray(header.sizeBytes));
    return header.addresses;
  }
}

/** Greets the client (RFC 5321 section 3.1), unless the session refuses it or it has not waited. */
async function sendBanner(connection: Connection): Promise<void> {
  const { context, wire } = connection;
  context.metrics.sessionBegan();
  const refusal = await ask(connection, 'connect', (session) => session.connect(connection.client));
  // A client waits for the banner (RFC 5321 section 4.3.1). Bytes that it sent at once arrive by the next turn.
  await nextSlice();
  if (wire.hasInput) fault('early_talker', EARLY);
  if (refusal) {
    wire.send(formatBareReply(refusal.code, [refusal.text].flat()));
    connection.isOpen = false;
    return;
  }
  const { hostname, protocol } = context.options;
  wire.send(formatBareReply(220, [`${hostname} ${protocol === 'lmtp' ? 'LMTP' : 'ESMTP'}`]));
}

/** Runs one command line and sends its reply. Returns the connection that takes the next one. */
async function runLine(connection: Connection, line: string): Promise<Connection> {
  const { context, counts } = connection;
  const { protocol, tls } = context.options;
  const { verb, argument } = splitLine(line);
  if (FOREIGN_VERBS.has(verb)) fault('foreign_protocol', NOT_SMTP);
  const isClean = CLEAN_LINE.test(line);
  const command = isClean ? COMMANDS[protocol].get(verb) : undefined;
  if (command?.group === 'last' && connection.wire.hasInput) fault('pipelining', OUT_OF_STEP);
  const refusal = isClean ? UNKNOWN : NOT_CLEAN;
  const answer = command ? await command.run(connection, argument) : refusal;
  if (answer) sendReply(connection, answer);
  const next = answer === READY_FOR_TLS && tls ? await encrypt(connection, tls.certificates) : connection;
  if (command?.isIdle) counts.idleCommands++;
  // A reply with 421 has ended the connection already.
  if (next.isOpen) requireProgress(next);
  if (command?.group !== 'within') next.wire.flush();
  return next;
}

/** Checks that the client has not sent too much that leads to no message. @throws ConnectionFault */
function requireProgress(connection: Connection): void {
  const { errors, idleCommands } = connection.counts;
  const limits = limitsOf(connection);
  if (errors >= limits.errors) fault('errors', TOO_MANY_ERRORS);
  if (idleCommands >= limits.idleCommands) fault('commands', TOO_MANY_COMMANDS);
}

/** Ends the connection for a newcomer. */
function evict(connection: Connection): void {
  const { context } = connection;
  context.metrics.refused('evicted');
  cutOff(connection, formatReply(tooManyConnections(context.options)));
}

/** Tells the client why the connection ends, where it does not know. */
function reportEnd(connection: Connection, error: unknown): void {
  const { context } = connection;
  if (error instanceof ConnectionFault) {
    context.metrics.refused(error.reason);
    if (error.reply) sendLast(connection, formatReply(error.reply));
  } else if (!(error instanceof ClientGone)) {
    context.log.error({ err: error }, 'SMTP connection failed');
    sendLast(connection, formatReply(refusalReply(error)));
  }
}
