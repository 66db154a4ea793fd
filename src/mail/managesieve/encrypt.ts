/** Puts TLS under a connection. */
import { encodeProtocols } from '../../system/accept-tls.ts';
import type { CertificateStore } from '../../system/certificates.ts';
import { startTls } from '../access/connection.ts';
import { openWire } from '../access/wire.ts';
import type { Connection } from './commands/command.ts';

/** Protocol name of ManageSieve (RFC 7301, registered for port 4190). */
export const PROTOCOLS = encodeProtocols(['managesieve']);

/** Runs the handshake after the responses that were sent. What the client has sent before is never run. @throws ConnectionFault */
export async function encrypt(connection: Connection, certificates: CertificateStore): Promise<void> {
  Object.assign(connection, await startTls(connection, { certificates, protocols: PROTOCOLS }));
  connection.wire = openWire(connection.context.clock, connection.socket);
}
