/**
 * Pins of public keys: the SHA-256 of the SubjectPublicKeyInfo in DER (RFC 7469 section 2.4), in the spelling of `curl --pinnedpubkey`. A
 * pin names one key, whoever has signed its certificate, and a renewed certificate with the same key keeps it.
 */
import { createHash, type X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

/** Matches a pin: `sha256//` and 32 bytes in base64. */
export const PIN = /^sha256\/\/[A-Za-z0-9+/]{43}=$/;

/** Reports a server whose public key is not the pinned one. */
export class WrongPinError extends Error {
  override readonly name = 'WrongPinError';

  constructor(host: string, seen: string | undefined) {
    super(`the key of ${host} is not the pinned one: its pin is ${seen ?? 'unknown, since it shows none'}`);
  }
}

/** Returns the pin of the key of a certificate. */
export function pinOfCertificate({ publicKey }: Pick<X509Certificate, 'publicKey'>): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return `sha256//${createHash('sha256').update(der).digest('base64')}`;
}

/** Returns the pin of the key that the peer of a connection has shown; undefined when it has shown none. */
export function pinOf(socket: Pick<TLSSocket, 'getPeerX509Certificate'>): string | undefined {
  const certificate = socket.getPeerX509Certificate();
  return certificate && pinOfCertificate(certificate);
}
