/** Puts TLS under a connection. */
import { acceptTls } from '../../../system/accept-tls.ts';
import type { CertificateStore } from '../../../system/certificates.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import type { Connection } from './commands/command.ts';
import { ConnectionFault } from './fault.ts';
import { Wire } from './wire.ts';

/**
 * Sends the replies that are held back and runs the handshake. Plaintext that came before counts as part of the
 * handshake, which then fails, so nothing of it is ever run as a command (CVE-2011-0411).
 * @throws ConnectionFault
 */
export async function encrypt(
  connection: Pick<Connection, 'context' | 'client' | 'wire' | 'binding'>,
  certificates: CertificateStore,
): Promise<void> {
  const { context, wire } = connection;
  const socket = wire.detach();
  const secure = await acceptTls(context.clock, socket, {
    certificates,
    timeoutMs: context.limits.handshakeMs,
  }).catch(() => {
    throw new ConnectionFault('tls_handshake', undefined);
  });
  connection.wire = new Wire(context.clock, secure);
  connection.binding = context.options.submission && channelBindingOf(secure);
  connection.client = {
    ...connection.client,
    tls: {
      version: secure.getProtocol() ?? '',
      cipher: secure.getCipher().name,
      serverName: secure.servername || undefined,
    },
  };
}
