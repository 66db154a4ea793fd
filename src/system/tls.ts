/**
 * TLS for connections to mail servers. The certificate is not verified here, because opportunistic TLS must not verify
 * it (RFC 7435). The result reports its state, and the caller applies a policy.
 */
import type { Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { type Clock, TimeoutError } from './clock.ts';
import { errorCode } from './errors.ts';

type TlsOptions = {
  /** Host name for SNI. An empty name sends none. */
  serverName: string;
  /** Name or address that the certificate must be valid for. Without one it is that of SNI. */
  identity?: string;
  /** The only authorities that are trusted, in PEM. Undefined means those of the system. */
  authorities?: string | undefined;
  timeoutMs: number;
  /**
   * `reduced` selects the smallest ClientHello, for servers and firewalls that fail with the default one. `verified` is the default one
   * for a session whose certificate must be valid.
   */
  hello: TlsHello;
  /** A session to resume, as an earlier connection has received it. */
  session?: Buffer | undefined;
};

export type TlsHello = 'default' | 'reduced' | 'verified';

/**
 * Key exchange groups of the default ClientHello. With Node's default, a post-quantum key share makes the ClientHello
 * span two packets, which some mail servers drop. X25519 first keeps it small.
 */
const SMALL_HELLO_CURVES = 'X25519:P-256:P-384:X25519MLKEM768';

/**
 * Cipher suites that servers of the last fifteen years support. The last two have no forward secrecy, but are still
 * better than plaintext (RFC 7435).
 */
const REDUCED_CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES128-SHA',
  'AES128-GCM-SHA256',
  'AES128-SHA',
].join(':');

/** TLS contexts by ClientHello. Creating one takes longer than a handshake, and one context serves every peer. */
const CONTEXTS: Record<TlsHello, () => SecureContext> = {
  default: once(() => createSecureContext({ minVersion: 'TLSv1.2', ecdhCurve: SMALL_HELLO_CURVES })),
  // The certificate authorities are those that are trusted when the first verified session opens.
  verified: once(() => createSecureContext({ minVersion: 'TLSv1.2', ecdhCurve: SMALL_HELLO_CURVES })),
  // A ClientHello of TLS 1.2 alone is smaller, because it omits the key shares, versions and suites of TLS 1.3.
  reduced: once(() =>
    createSecureContext({
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.2',
      ciphers: REDUCED_CIPHERS,
      ecdhCurve: 'P-256:X25519',
      sigalgs: 'RSA-PSS+SHA256:RSA+SHA256:ECDSA+SHA256',
    }),
  ),
};

/** A context with authorities of its own is cheap to create, because it does not load those of the system. */
function contextOf({ hello, authorities }: TlsOptions): SecureContext {
  if (authorities === undefined) return CONTEXTS[hello]();
  return createSecureContext({ minVersion: 'TLSv1.2', ecdhCurve: SMALL_HELLO_CURVES, ca: authorities });
}

/** Runs the client handshake over an open socket. Rejects with the handshake's error; the socket is then destroyed. */
export function startTls(clock: Clock, socket: Socket, options: TlsOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secure = connect({
      socket,
      servername: options.serverName,
      // The certificate is compared with this name where SNI names no host, because the host is an address.
      ...(options.identity !== undefined && { host: options.identity }),
      rejectUnauthorized: false,
      secureContext: contextOf(options),
      ...(options.session !== undefined && { session: options.session }),
    });
    // These listeners stay after the handshake and then have no effect. Without the first one, an error between this
    // promise and the caller's own listener would end the process.
    secure.on('error', failed);
    secure.once('close', closed);
    const timer = clock.after(options.timeoutMs, () =>
      secure.destroy(new TimeoutError(`TLS handshake took longer than ${options.timeoutMs} ms`)),
    );
    function failed(error: Error): void {
      timer.cancel();
      reject(error);
    }
    function closed(): void {
      failed(new Error('connection closed during the TLS handshake'));
    }
    secure.once('secureConnect', () => {
      timer.cancel();
      resolve(secure);
    });
  });
}

/**
 * Starts TLS with a server whose certificate must be valid for the name, and returns the socket at once. A certificate that is not
 * trusted, and any other fault, is an `error` of the socket.
 */
export function connectVerified(socket: Socket, serverName: string, onSecure: () => void): TLSSocket {
  const secureContext = CONTEXTS.verified();
  return connect({ socket, servername: serverName, rejectUnauthorized: true, secureContext }, onSecure);
}

/** Codes of certificates that are refused, of Node and of OpenSSL. */
const CERTIFICATE_CODE = /CERT|SELF_SIGNED|ISSUER|VERIFY|HOSTNAME_MISMATCH/;

/** Returns true for the error of a socket whose certificate was refused. */
export function isCertificateError(error: unknown): boolean {
  return CERTIFICATE_CODE.test(errorCode(error) ?? '');
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
