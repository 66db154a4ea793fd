/** Puts TLS under a connection. */
import { encodeProtocols } from '../../system/accept-tls.ts';
import type { CertificateStore } from '../../system/certificates.ts';
import { startTls } from '../access/connection.ts';
import { attachWire } from './attach-wire.ts';
import type { Connection } from './commands/command.ts';

/** Protocol name of IMAP (RFC 7301, registered for port 993). */
export const PROTOCOLS = encodeProtocols(['imap']);

/** Runs the handshake, after which nothing is known of what the client has said before. @throws ConnectionFault */
export async function encrypt(connection: Connection, certificates: CertificateStore): Promise<void> {
  await startTls(connection, { certificates, protocols: PROTOCOLS });
  connection.client = { ...connection.client, id: {} };
  attachWire(connection, connection.socket);
}
