/** Shows certificates to the operator. */
import { isoTime } from '../system/clock.ts';
import type { Problem } from './certificate.ts';
import type { Listed } from './certificate-set.ts';
import { tlsaValue } from './tlsa.ts';

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
