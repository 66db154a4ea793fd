/**
 * Names a certificate as renewal information does (RFC 9773 section 4.1). This module is imported only when one is asked for,
 * because its package takes 150 ms to load.
 */
import { AuthorityKeyIdentifierExtension, X509Certificate } from '@peculiar/x509';

/** Returns the identifier; undefined when the certificate does not name the key of its authority. */
export function certificateIdOf(chain: string): string | undefined {
  const certificate = new X509Certificate(chain);
  const keyId = certificate.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
  if (keyId === undefined) return undefined;
  const serial = Buffer.from(certificate.serialNumber.padStart(2, '0'), 'hex');
  // A number in DER begins with a zero byte where its first bit would make it negative.
  const number = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial;
  return `${Buffer.from(keyId, 'hex').toString('base64url')}.${number.toString('base64url')}`;
}
