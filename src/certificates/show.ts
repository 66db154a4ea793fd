/** Shows certificates to the operator. */

import type { OperatorRecord } from '../domains/operator-records.ts';
import { createCertificateStore } from '../system/certificates.ts';
import { isoTime } from '../system/clock.ts';
import type { Certificate, Problem } from './certificate.ts';
import type { Listed } from './certificate-set.ts';

/** `names`, `keyType`, `expiresAt` and `tlsa` are null while no certificate can be used. */
export type CertificateStatus = {
  kind: Listed['kind'];
  certificate: string;
  key: string;
  names: readonly string[] | null;
  keyType: string | null;
  expiresAt: string | null;
  /** The data of a TLSA record for this key. */
  tlsa: string | null;
  /** Says why the files are not used as they are now. An earlier certificate may be in use instead. */
  problem: Problem | null;
};

/** Returns the certificates as the control socket answers with them. */
export function showCertificates(listed: readonly Listed[]): CertificateStatus[] {
  return listed.map(({ kind, files, certificate, problem }) => ({
    kind,
    ...files,
    names: certificate?.names ?? null,
    keyType: certificate?.keyType ?? null,
    expiresAt: certificate ? isoTime(certificate.expiresAt) : null,
    tlsa: certificate ? tlsaValue(certificate) : null,
    problem: problem ?? null,
  }));
}

/**
 * Returns the data of a record: DANE-EE(3), SPKI(1), SHA2-256(1), which RFC 7672 section 3.1 recommends. It names the key
 * and not the certificate, so it stays right when a certificate is renewed with the same key.
 */
function tlsaValue({ publicKeyHash }: Certificate): string {
  return `3 1 1 ${publicKeyHash}`;
}

/** Returns one record for each key that a sender sees who asks for the hostname (RFC 6698 section 3). */
export function tlsaRecords(hostname: string, certificates: readonly Certificate[]): OperatorRecord[] {
  if (certificates.length === 0) return [];
  const shown = createCertificateStore(certificates).pairsFor(hostname);
  const values = certificates
    .filter(({ chain }) => shown.some((pair) => pair.chain === chain))
    .map((certificate) => tlsaValue(certificate));
  return [...new Set(values)].map((value) => ({
    type: 'TLSA',
    name: `_25._tcp.${hostname.toLowerCase()}`,
    value,
    purpose: 'DANE: senders that check it deliver only to this key; publish it only in a zone with DNSSEC',
  }));
}
