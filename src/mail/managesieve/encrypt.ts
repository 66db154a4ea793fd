/** Puts TLS under a connection. */

import { encodeProtocols } from '../../system/accept-tls.ts';
import type { CertificateStore } from '../../system/certificates.ts';
import { startTls } from '../access/connection.ts';
import { openWire } from '../access/wire.ts';
import type { Connection } from './command.ts';

/** Protocol name of ManageSieve (RFC 7301, registered for port 4190). */
export const PROTOCOLS = encodeProtocols(['managesieve']);

/** Runs the handshake after the responses that were sent, and returns the connection on top of it. @throws ConnectionFault */
export async function encrypt(connection: Connection, certificates: CertificateStore): Promise<Connection> {
  const secured = await startTls(connection, { certificates, protocols: PROTOCOLS });
  return { ...connection, ...secured, wire: openWire(connection.context.clock, secured.socket) };
}
