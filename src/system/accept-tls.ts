/**
 * The server's side of TLS, on a connection that is encrypted from its first byte and on one that becomes so by
 * STARTTLS.
 */
import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import type { CertificateStore } from './certificates.ts';
import { awaitClientHello, type ClientHello } from './client-hello.ts';
import { type Clock, TimeoutError } from './clock.ts';

export type AcceptTlsOptions = {
  certificates: CertificateStore;
  /**
   * Time for the first message of the client, and again for the rest of the handshake, in milliseconds. The time in between, until its
   * turn, has no limit.
   */
  timeoutMs: number;
  /**
   * Protocol names that are offered (ALPN, RFC 7301), as `encodeProtocols` returns them. A client that asks only for others is
   * refused.
   */
  protocols?: DataView;
  /**
   * Returns what serves a hello instead of the certificates and the protocols above; undefined for an ordinary one. By default every hello is
   * ordinary.
   */
  findSpecial?: (hello: ClientHello) => SpecialHandshake | undefined;
  /**
   * Resolves when a handshake may begin, whose first step is the one that costs much. By default it begins at once. May close the
   * connection instead.
   */
  turn?: (socket: Socket) => Promise<void>;
};

type SpecialHandshake = { context: SecureContext; protocols: DataView };

/**
 * Runs the handshake with a client. Bytes that the client has sent before count as part of it, so that nothing that was
 * sent in plaintext is read as if it were encrypted (CVE-2021-38084 and others). Rejects when the handshake fails; the
 * connection is then closed. The encrypted socket has an `error` listener.
 * @throws TimeoutError, or the error of the handshake
 */
export async function acceptTls(
  clock: Pick<Clock, 'after'>,
  socket: Socket,
  { certificates, timeoutMs, protocols, findSpecial, turn }: AcceptTlsOptions,
): Promise<TLSSocket> {
  const limit = async <Value>(limited: Socket, step: Promise<Value>): Promise<Value> => {
    const timer = clock.after(timeoutMs, () =>
      limited.destroy(new TimeoutError(`TLS handshake took longer than ${timeoutMs} ms`)),
    );
    return await step.finally(timer.cancel);
  };
  const hello = await limit(socket, awaitClientHello(socket));
  await turn?.(socket);
  if (socket.destroyed) throw socket.errored ?? new Error('the connection closed before its TLS handshake');
  const special = findSpecial?.(hello);
  const offered = special?.protocols ?? protocols;
  const secure = new TLSSocket(socket, {
    isServer: true,
    secureContext: special?.context ?? certificates.find(hello.serverName),
    ...(offered && { ALPNProtocols: offered }),
  });
  await limit(secure, finishHandshake(secure));
  return secure;
}

/**
 * Returns the list of protocol names in the form of RFC 7301 section 3.1. Node keeps a copy of it for each connection: a copy of a
 * list of names would be cut from a slab of memory that many connections share, and would keep the slab.
 */
export function encodeProtocols(names: readonly string[]): DataView {
  const bytes = Buffer.concat(names.map((name) => Buffer.from(`${String.fromCharCode(name.length)}${name}`)));
  return new DataView(new Uint8Array(bytes).buffer);
}

/** A client that closes its side before its part of the handshake is done will never do it, and a half-open connection would wait. */
function finishHandshake(secure: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => secure.destroy();
    secure.once('end', giveUp);
    // After the handshake these listeners have no effect, but the first one keeps errors from being uncaught.
    secure.on('error', reject);
    secure.once('_tlsError', reject);
    secure.once('close', () => reject(new Error('the connection closed during the TLS handshake')));
    secure.once('secure', () => {
      secure.off('end', giveUp);
      resolve();
    });
  });
}
