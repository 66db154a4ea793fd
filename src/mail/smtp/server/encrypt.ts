/** Puts TLS under a connection. */

import { acceptTls } from '../../../system/accept-tls.ts';
import type { CertificateStore } from '../../../system/certificates.ts';
import { tlsOf } from '../../connection/client.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { type Connection, limitsOf } from './commands/command.ts';
import { ConnectionFault } from './fault.ts';
import { attachWire } from './wire.ts';

/**
 * Sends the replies that are held back and runs the handshake. Plaintext that came before counts as part of the
 * handshake, which then fails, so nothing of it is ever run as a command (CVE-2011-0411).
 * @throws ConnectionFault
 */
export async function encrypt(
  connection: Pick<
    Connection,
    'context' | 'socket' | 'client' | 'wire' | 'lines' | 'binding' | 'isLoggedIn' | 'isExempt'
  >,
  certificates: CertificateStore,
): Promise<void> {
  const { context, wire, socket } = connection;
  wire.detach();
  const secure = await acceptTls(context.clock, socket, {
    certificates,
    timeoutMs: limitsOf(connection).handshakeMs,
  }).catch(() => {
    throw new ConnectionFault('tls_handshake', undefined);
  });
  Object.assign(connection, attachWire(context.clock, secure));
  connection.socket = secure;
  connection.binding = context.options.submission && channelBindingOf(secure);
  connection.client = { ...connection.client, tls: tlsOf(secure) };
}
