/** Compares the certificates that a mail server has sent with its TLSA records (RFC 7672 section 3). */
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { TlsaRecord } from './tlsa.ts';

export type DaneIdentity = {
  records: readonly TlsaRecord[];
  /** Names of the server, one of which the certificate must have when its authority is what matches (RFC 7672 section 3.2.2). */
  names: readonly string[];
};

/** Names of reports for what is wrong with the certificate (RFC 8460 section 4.3.1). */
type DaneFault = 'certificate-host-mismatch' | 'certificate-expired' | 'certificate-not-trusted';
/** `name` is the one by which the certificate passes; undefined when the records ask for no name. */
type DaneVerdict = { ok: true; name: string | undefined } | { ok: false; fault: DaneFault; reason: string };

/** Maximum number of signatures that are checked, since a server may send many issuers of the same name. Our own limit. */
const MAX_SIGNATURES = 20;

/**
 * Verifies a chain, whose first certificate is that of the server and each other one that of the issuer of the one before it. `now` is
 * in Unix milliseconds.
 */
export function verifyDane(
  chain: readonly X509Certificate[],
  { records, names }: DaneIdentity,
  now: number,
): DaneVerdict {
  const [leaf] = chain;
  if (!leaf) return failed('certificate-not-trusted', 'the server sent no certificate');
  // Neither the name nor the dates of a certificate that is named itself count (RFC 7672 section 3.1.1).
  if (records.some((record) => record.usage === 3 && matches(record, leaf)))
    return { ok: true, name: undefined };
  const authorities = records.filter(({ usage }) => usage === 2);
  const trusted = findPath(chain, authorities);
  if (!trusted)
    return failed('certificate-not-trusted', 'no TLSA record of the host matches its certificates');
  if (trusted.some((certificate) => !isCurrent(certificate, now)))
    return failed('certificate-expired', 'a certificate is expired or not valid yet');
  if (trusted.slice(1).some(constrainsNames))
    return failed(
      'certificate-not-trusted',
      'an authority may certify only some names, which is not evaluated',
    );
  const name = names.find((one) => leaf.checkHost(one, WHOLE_LABELS) !== undefined);
  if (name !== undefined) return { ok: true, name };
  return failed('certificate-host-mismatch', `the certificate is for another name than ${names.join(', ')}`);
}

/** A wildcard stands for a whole label (RFC 7672 section 3.2.3). */
const WHOLE_LABELS = { partialWildcards: false } as const;

/**
 * Returns the certificates from the server's up to the one that an authority record names; undefined when none does. Servers send the
 * issuers in any order, and others among them.
 */
function findPath(
  [leaf, ...others]: readonly X509Certificate[],
  authorities: readonly TlsaRecord[],
): readonly X509Certificate[] | undefined {
  const unseen = new Set(others);
  let checksLeft = MAX_SIGNATURES;
  function climb(path: readonly X509Certificate[]): readonly X509Certificate[] | undefined {
    const [top] = path.slice(-1);
    // The record may hold the authority itself, which the server then need not send (RFC 7672 section 3.1.2).
    if (!top) return undefined;
    for (const record of authorities) {
      const held = heldIssuer(record, top);
      if (held) return [...path, ...held];
    }
    for (const issuer of unseen) {
      if (!issuer.ca || !top.checkIssued(issuer) || checksLeft-- <= 0) continue;
      if (!isSignedBy(top, issuer.publicKey)) continue;
      unseen.delete(issuer);
      const longer = [...path, issuer];
      if (authorities.some((record) => matches(record, issuer))) return longer;
      const found = climb(longer);
      if (found) return found;
    }
    return undefined;
  }
  return leaf && climb([leaf]);
}

/**
 * Returns the authority that a record holds and that has issued the certificate, which is nothing for a record of a bare key; undefined when the
 * record holds no issuer of it.
 */
function heldIssuer(
  { selector, matchingType, data }: TlsaRecord,
  certificate: X509Certificate,
): readonly X509Certificate[] | undefined {
  if (matchingType !== 0) return undefined;
  const bytes = Buffer.from(data, 'hex');
  if (selector === 1) {
    const key = createPublicKey({ key: bytes, format: 'der', type: 'spki' });
    return isSignedBy(certificate, key) ? [] : undefined;
  }
  const authority = new X509Certificate(bytes);
  const hasIssued =
    authority.ca && certificate.checkIssued(authority) && isSignedBy(certificate, authority.publicKey);
  return hasIssued ? [authority] : undefined;
}

/** The object identifier 2.5.29.30, and the beginning of a BOOLEAN of one octet, in DER (RFC 5280 section 4.2.1.10). */
const NAME_CONSTRAINTS = Buffer.from('0603551d1e', 'hex');
const BOOLEAN = Buffer.from('0101', 'hex');

/**
 * Returns true when an authority may certify only some names, and says so by a critical extension. Node does not show extensions, and a program
 * that does not evaluate a critical one must refuse the certificate (RFC 5280 section 4.2). The octets of the extension are searched for: the same
 * octets in another place would have a good certificate refused, and never a bad one accepted.
 */
function constrainsNames({ raw }: X509Certificate): boolean {
  for (let at = raw.indexOf(NAME_CONSTRAINTS); at >= 0; at = raw.indexOf(NAME_CONSTRAINTS, at + 1)) {
    const next = at + NAME_CONSTRAINTS.length;
    const isBoolean = raw.subarray(next, next + BOOLEAN.length).equals(BOOLEAN);
    if (isBoolean && raw[next + BOOLEAN.length] !== 0) return true;
  }
  return false;
}

function isSignedBy(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.verify(key);
  } catch {
    return false;
  }
}

function matches({ selector, matchingType, data }: TlsaRecord, certificate: X509Certificate): boolean {
  const selected =
    selector === 0 ? certificate.raw : certificate.publicKey.export({ format: 'der', type: 'spki' });
  if (matchingType === 0) return selected.toString('hex') === data;
  return (
    createHash(matchingType === 1 ? 'sha256' : 'sha512')
      .update(selected)
      .digest('hex') === data
  );
}

function isCurrent(certificate: X509Certificate, now: number): boolean {
  return certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime();
}

function failed(fault: DaneFault, reason: string): DaneVerdict {
  return { ok: false, fault, reason };
}
