/**
 * TLS towards mail peers. Verification is the caller's policy: opportunistic TLS must not verify
 * (engine.md finding 8; RFC 7435), so the certificate's state is reported and not judged here.
 */
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { type Clock, TimeoutError } from './clock.ts';

/** Node's default offers a post-quantum key share, which makes the ClientHello span two packets; some mail servers drop
 * those (engine.md finding 5). X25519 first keeps it small. */
const SMALL_HELLO_CURVES = 'X25519:P-256:P-384:X25519MLKEM768';

export type TlsOptions = { serverName: string; timeoutMs: number };

/** Runs the client handshake over an open socket. Rejects with the handshake's error; the socket is then destroyed. */
export function startTls(clock: Clock, socket: Socket, options: TlsOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secure = connect({
      socket,
      servername: options.serverName,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      ecdhCurve: SMALL_HELLO_CURVES,
    });
    const timer = clock.after(options.timeoutMs, () =>
      secure.destroy(new TimeoutError(`TLS handshake took longer than ${options.timeoutMs} ms`)),
    );
    const failed = (error: Error) => {
      timer.cancel();
      socket.destroy();
      reject(error);
    };
    secure.once('error', failed);
    const closed = () => failed(new Error('connection closed during the TLS handshake'));
    secure.once('close', closed);
    secure.once('secureConnect', () => {
      timer.cancel();
      secure.off('close', closed);
      secure.off('error', failed);
      resolve(secure);
    });
  });
}
