/** Puts TLS under a connection. */
import { acceptTls, encodeProtocols } from '../../system/accept-tls.ts';
import { addressSite } from '../../system/address-block.ts';
import type { CertificateStore } from '../../system/certificates.ts';
import { attachWire } from './attach-wire.ts';
import type { Connection } from './commands/command.ts';
import { ConnectionFault } from './fault.ts';

/** Protocol name of IMAP (RFC 7301, registered for port 993). */
const PROTOCOLS = encodeProtocols(['imap']);

/**
 * Runs the handshake after the responses that were sent. Plaintext that came before counts as part of the handshake, which
 * then fails, so nothing of it is ever run as a command (CVE-2011-0411). What the client has said before is forgotten.
 * @throws ConnectionFault
 */
export async function encrypt(connection: Connection, certificates: CertificateStore): Promise<void> {
  const { context, wire, socket } = connection;
  wire.detach();
  const secure = await acceptTls(context.clock, socket, {
    certificates,
    timeoutMs: context.limits.handshakeMs,
    protocols: PROTOCOLS,
    turn: () => context.handshakeTurn(addressSite(connection.client.address)),
  }).catch(() => {
    throw new ConnectionFault('tls_handshake', undefined);
  });
  connection.socket = secure;
  attachWire(connection, secure);
  connection.client = {
    ...connection.client,
    id: {},
    tls: {
      version: secure.getProtocol() ?? '',
      cipher: secure.getCipher().name,
      serverName: secure.servername || undefined,
    },
  };
}
