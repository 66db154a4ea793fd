/** A certificate with its key, and what is said about it in lists, in the log and in metrics. */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import {
  type CertificatePair,
  createCertificateStore,
  dnsNames,
  wildcardOf,
} from '../system/certificates.ts';
import { DAY_MS, isoTime } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';

export type Certificate = CertificatePair & {
  /** DNS names in lower case. */
  names: readonly string[];
  /** Node's name for the type of the key, such as `ec` or `rsa`. */
  keyType: string;
  /** SHA-256 of the public key (SubjectPublicKeyInfo), in hexadecimal digits. Certificates of one key have the same. */
  publicKeyHash: string;
  /** First and last moment of its validity, in Unix milliseconds. */
  validFrom: number;
  expiresAt: number;
};

export type CertificateFiles = { certificate: string; key: string };

/** Says why files are not used: which of the two, and the reason as a sentence without its subject. */
export type Problem = { file: string; reason: string };

type Texts = { certificate: string; key: string };

/** Returns the certificate in these texts, or what is wrong with them. `files` are only named. */
export function parseCertificate(
  files: CertificateFiles,
  texts: Texts,
): { certificate: Certificate } | { problem: Problem } {
  const problem = (file: string, reason: string) => ({ problem: { file, reason } });
  const x509 = tryTo(() => new X509Certificate(texts.certificate));
  if ('error' in x509) return problem(files.certificate, `has no certificate in PEM (${x509.error})`);
  const key = tryTo(() => createPrivateKey(texts.key));
  if ('error' in key) return problem(files.key, `has no private key in PEM that can be used (${key.error})`);
  if (!x509.value.checkPrivateKey(key.value))
    return problem(files.key, `is not the key of the certificate in ${files.certificate}`);
  const pair = { chain: texts.certificate, key: texts.key };
  // OpenSSL refuses more than its parser does, such as short keys and a chain whose end is missing.
  const usable = tryTo(() => createCertificateStore([pair]));
  if ('error' in usable) return problem(files.certificate, `cannot be used: ${usable.error}`);
  const names = dnsNames(x509.value);
  if (names.length === 0) return problem(files.certificate, 'has no DNS name (subjectAltName)');
  return {
    certificate: {
      ...pair,
      names,
      keyType: key.value.asymmetricKeyType ?? '',
      publicKeyHash: hashPublicKey(x509.value),
      validFrom: x509.value.validFromDate.getTime(),
      expiresAt: x509.value.validToDate.getTime(),
    },
  };
}

function hashPublicKey({ publicKey }: X509Certificate): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

function tryTo<Value>(make: () => Value): { value: Value } | { error: string } {
  try {
    return { value: make() };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

/** Returns true when a certificate is valid for a host name in lower case, by itself or as a wildcard (RFC 9525 section 6.3). */
export function coversName({ names }: Pick<Certificate, 'names'>, name: string): boolean {
  return names.includes(name) || names.includes(wildcardOf(name));
}

/** Maximum time before the end of a certificate from which on its end is near, in milliseconds. */
const MAX_NEAR_END_MS = 14 * DAY_MS;
/** Share of the life of a certificate that is left when its end is near. Renewal is due at a third or a half of a life, so it is late then. */
const NEAR_END_SHARE = 1 / 6;

/** Returns true when the renewal of a certificate is late: in its last 14 days, or in the last sixth of a life of less than 84 days. */
export function isNearEnd(
  { validFrom, expiresAt }: Pick<Certificate, 'validFrom' | 'expiresAt'>,
  now: number,
): boolean {
  return expiresAt - now < Math.min(MAX_NEAR_END_MS, (expiresAt - validFrom) * NEAR_END_SHARE);
}

/** Returns the fields of a log line about a certificate. */
export function logFields({ names, keyType, expiresAt }: Certificate): Record<string, unknown> {
  return { names: names.slice(0, MAX_LOGGED_NAMES), keyType, expiresAt: isoTime(expiresAt) };
}

/** Maximum number of names in a log line. Some certificates have a hundred. */
const MAX_LOGGED_NAMES = 5;
