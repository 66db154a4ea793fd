/** Shows certificates to the operator. */

import type { OperatorRecord } from '../domains/operator-records.ts';
import { createCertificateStore } from '../system/certificates.ts';
import { isoTime } from '../system/clock.ts';
import type { Ordered } from './acme/ordered.ts';
import type { Certificate, Problem } from './certificate.ts';
import type { Listed } from './certificate-set.ts';

/**
 * How it is with a certificate: `failing` is one in use whose renewal fails, `ordered` one that was never issued yet, and `missing` one that
 * cannot be used.
 */
export type CertificateState = 'valid' | 'expired' | 'missing' | 'ordered' | 'failing';

/** `names`, `keyType`, `validFrom`, `expiresAt` and `tlsa` are null while no certificate can be used. */
export type CertificateStatus = {
  kind: Listed['kind'];
  /** Paths of the files; null for a certificate by ACME, which is kept in the database. */
  certificate: string | null;
  key: string | null;
  names: readonly string[] | null;
  keyType: string | null;
  validFrom: string | null;
  expiresAt: string | null;
  /** The data of a TLSA record for this key. */
  tlsa: string | null;
  /** Says why the files are not used as they are now. An earlier certificate may be in use instead. */
  problem: Problem | null;
  /** Order by ACME; null for all other certificates. */
  order: OrderStatus | null;
};

type OrderStatus = {
  name: string;
  /** Tenant that the name belongs to; null for a name of the operator. */
  tenantId: string | null;
  /** Directory of the authority. */
  authority: string;
  /** Time at which the certificate is to be renewed, and time of the next look at the name. */
  renewAt: string | null;
  nextAttemptAt: string | null;
  /** Number of attempts that failed since the last certificate, with the reason and the time of the last one. */
  failures: number;
  lastError: string | null;
  lastErrorAt: string | null;
};

/** Returns the certificates as the control socket answers with them. */
export function showCertificates(listed: readonly Listed[]): CertificateStatus[] {
  return listed.map((one) => ({
    kind: one.kind,
    ...(one.kind === 'acme' ? NO_FILES : { ...one.files, problem: one.problem ?? null }),
    names: one.certificate?.names ?? null,
    keyType: one.certificate?.keyType ?? null,
    validFrom: one.certificate ? isoTime(one.certificate.validFrom) : null,
    expiresAt: one.certificate ? isoTime(one.certificate.expiresAt) : null,
    tlsa: one.certificate ? tlsaValue(one.certificate) : null,
    order: one.kind === 'acme' ? showOrder(one.order) : null,
  }));
}

/** Returns the host names of a certificate, or the one that it is ordered for. */
export function namesOf({ names, order }: Pick<CertificateStatus, 'names' | 'order'>): readonly string[] {
  return names ?? (order ? [order.name] : []);
}

/** Returns how it is with a certificate at a time. */
export function stateOf(
  { expiresAt, order }: Pick<CertificateStatus, 'expiresAt' | 'order'>,
  now: number,
): CertificateState {
  const isValid = expiresAt !== null && Date.parse(expiresAt) > now;
  if (order && order.failures > 0) return isValid ? 'failing' : 'missing';
  if (order && expiresAt === null) return 'ordered';
  if (expiresAt === null) return 'missing';
  return isValid ? 'valid' : 'expired';
}

const NO_FILES = { certificate: null, key: null, problem: null };

function showOrder({ name, tenantId, directory, failures, lastError, ...order }: Ordered): OrderStatus {
  const timeOf = (time: number | null) => (time === null ? null : isoTime(time));
  return {
    name,
    tenantId,
    authority: directory,
    failures,
    lastError,
    renewAt: timeOf(order.renewAt),
    nextAttemptAt: timeOf(order.nextAttemptAt),
    lastErrorAt: timeOf(order.lastErrorAt),
  };
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
    isOptional: true,
  }));
}
