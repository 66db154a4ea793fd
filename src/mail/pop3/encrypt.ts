/** Puts TLS under a connection. */
import { encodeProtocols } from '../../system/accept-tls.ts';
import { startTls } from '../access/connection.ts';
import { ConnectionFault } from '../access/fault.ts';
import { openWire } from '../access/wire.ts';
import type { EarlyConnection } from './connection-state.ts';

/** Protocol name of POP3 (RFC 7301, registered for port 995). */
export const PROTOCOLS = encodeProtocols(['pop3']);

/** Runs the handshake, and returns the connection on top of it, of which nothing is known that was said before. @throws ConnectionFault */
export async function encrypt(connection: EarlyConnection): Promise<EarlyConnection> {
  const { context } = connection;
  const { tls } = context.options;
  if (!tls) throw new ConnectionFault('tls_handshake', undefined);
  const secured = await startTls(connection, { certificates: tls.certificates, protocols: PROTOCOLS });
  return {
    ...connection,
    ...secured,
    wire: openWire(context.clock, secured.socket),
    user: undefined,
    isUtf8: false,
  };
}
