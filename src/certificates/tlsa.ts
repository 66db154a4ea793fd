/**
 * TLSA records of the keys that this installation shows on port 25. Senders with DANE require one of them (RFC 7672),
 * where the zone is signed with DNSSEC.
 */
import type { OperatorRecord } from '../domains/operator-records.ts';
import { createCertificateStore } from '../system/certificates.ts';
import type { Certificate } from './certificate.ts';

/**
 * Returns the data of a record: DANE-EE(3), SPKI(1), SHA2-256(1), which RFC 7672 section 3.1 recommends. It names the key
 * and not the certificate, so it stays right when a certificate is renewed with the same key.
 */
export function tlsaValue({ publicKeyHash }: Certificate): string {
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
