/** Puts wires and the framing of commands on the octets of a connection. */
import type { Duplex } from 'node:stream';
import { encodeProtocols } from '../../system/accept-tls.ts';
import { commandWaitLimit, startTls } from '../access/connection.ts';
import { ConnectionFault } from '../access/fault.ts';
import { type AccessWaitLimit, openWire } from '../access/wire.ts';
import type { Connection, EarlyConnection } from './connection-state.ts';
import { Framing } from './framing.ts';

/** Protocol name of IMAP (RFC 7301, registered for port 993). */
export const PROTOCOLS = encodeProtocols(['imap']);

/** Returns a connection on this stream. */
export function attach<Attached extends Connection>(
  fields: Omit<Attached, 'wire' | 'framing'>,
  stream: Duplex,
): Attached {
  const wire = openWire(fields.context.clock, stream);
  const framing = new Framing({
    read: (purpose) => wire.read(waitLimitFor(connection, purpose)),
    unread: (bytes) => wire.unread(bytes),
    requestLiteral: () => wire.send('+ OK\r\n'),
  });
  const connection = { ...fields, wire, framing } as Attached;
  return connection;
}

/** Runs the TLS handshake, and returns the connection on top of it, of which nothing is known that was said before. @throws ConnectionFault */
export async function encrypt(connection: EarlyConnection): Promise<EarlyConnection> {
  const { tls } = connection.context.options;
  if (!tls) throw new ConnectionFault('tls_handshake', undefined);
  const { socket, client } = await startTls(connection, {
    certificates: tls.certificates,
    protocols: PROTOCOLS,
  });
  return attach({ ...connection, socket, client: { ...client, id: {} } }, socket);
}

function waitLimitFor(connection: Connection, purpose: 'command' | 'message'): AccessWaitLimit {
  if (connection.session) return commandWaitLimit(connection, { hasLoggedIn: false });
  const { commandMs, dataBlockMs } = connection.context.limits;
  if (purpose === 'command') return { timeoutMs: commandMs, reason: 'idle' };
  return { timeoutMs: dataBlockMs, reason: 'slow_data' };
}
