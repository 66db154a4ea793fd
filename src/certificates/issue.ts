/**
 * Issues self-signed certificates. This module is imported only when one is made, because its package takes 150 ms to
 * load.
 */
import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

export type Issue = {
  hostname: string;
  privateKey: KeyObject;
  algorithm: SigningAlgorithm;
  validFrom: number;
  expiresAt: number;
  /** Value of the critical extension by which a certificate answers a challenge (RFC 8737 section 3), in DER. */
  acmeIdentifier?: Uint8Array;
};

/** Names of Web Crypto: a key on the curve P-256, or an RSA key whose signatures follow PKCS #1 1.5. */
export type SigningAlgorithm = 'ECDSA' | 'RSASSA-PKCS1-v1_5';

/** Object identifier of `id-pe-acmeIdentifier` (RFC 8737 section 6.1). */
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
/** Maximum length of a common name (`ub-common-name`, RFC 5280 appendix A.1). Host names may be longer. */
const MAX_COMMON_NAME_CHARACTERS = 64;
/** Length of the serial number: at most 20 bytes, of which at least 64 bits are random (RFC 5280 section 4.1.2.2). */
const SERIAL_NUMBER_BYTES = 16;

/** Returns a certificate in PEM that is valid for this host name and signed with its own key. */
export async function issueSelfSigned(issue: Issue): Promise<string> {
  const { hostname, algorithm } = issue;
  const keys = await importKeys(issue.privateKey, algorithm);
  // A certificate without a subject names its host in a critical extension (RFC 5280 section 4.2.1.6).
  const hasSubject = hostname.length <= MAX_COMMON_NAME_CHARACTERS;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: hasSubject ? [{ CN: [hostname] }] : [],
    notBefore: new Date(issue.validFrom),
    notAfter: new Date(issue.expiresAt),
    signingAlgorithm: { name: algorithm, hash: 'SHA-256' },
    keys,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: hostname }], !hasSubject),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(issue.acmeIdentifier
        ? [new Extension(ACME_IDENTIFIER, true, new Uint8Array(issue.acmeIdentifier))]
        : []),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Returns a key and its public part for the functions of the package, which use Web Crypto. */
export async function importKeys(privateKey: KeyObject, algorithm: SigningAlgorithm): Promise<CryptoKeyPair> {
  const keyAlgorithm =
    algorithm === 'ECDSA' ? { name: algorithm, namedCurve: 'P-256' } : { name: algorithm, hash: 'SHA-256' };
  const [pkcs8, spki] = [
    privateKey.export({ type: 'pkcs8', format: 'der' }),
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
  ];
  return {
    privateKey: await crypto.subtle.importKey('pkcs8', new Uint8Array(pkcs8), keyAlgorithm, false, ['sign']),
    publicKey: await crypto.subtle.importKey('spki', new Uint8Array(spki), keyAlgorithm, true, ['verify']),
  };
}

/** Returns a random positive number in hexadecimal digits that takes the same number of bytes each time. */
function serialNumber(): string {
  const bytes = randomBytes(SERIAL_NUMBER_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}
