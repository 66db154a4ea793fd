/** TLSA records of a mail server (RFC 6698 section 2), and which of them a client can use (RFC 7672 section 3.1). */
import { createPublicKey, X509Certificate } from 'node:crypto';

export type TlsaRecord = {
  /** 2 names an authority (DANE-TA), 3 the certificate of the server itself (DANE-EE). */
  usage: 2 | 3;
  /** 0 is the whole certificate, 1 its public key. */
  selector: 0 | 1;
  /** 0 is the data itself, 1 its SHA-256, 2 its SHA-512. */
  matchingType: 0 | 1 | 2;
  /** Lower-case hexadecimal. */
  data: string;
};

/** Maximum number of records of a host that are compared. Operators publish two to four. Our own limit. */
const MAX_RECORDS = 20;
/** Number of hexadecimal digits of each kind of digest. */
const DIGEST_DIGITS = { 1: 64, 2: 128 } as const;

/**
 * Returns the usable ones of the records, which are in the form of zone files. Usages 0 and 1, unknown numbers, and data that is no
 * certificate, key or digest are not usable. Where digests of both kinds are there for one usage and selector, only the stronger
 * ones count (RFC 7671 section 9).
 */
export function usableRecords(texts: readonly string[]): TlsaRecord[] {
  const records = texts.slice(0, MAX_RECORDS).flatMap((text) => readRecord(text) ?? []);
  return records.filter(
    (one) =>
      one.matchingType !== 1 ||
      !records.some(
        ({ usage, selector, matchingType }) =>
          usage === one.usage && selector === one.selector && matchingType === 2,
      ),
  );
}

function readRecord(text: string): TlsaRecord | undefined {
  const [, usage, selector, matchingType, data] =
    /^([23]) ([01]) ([012]) ((?:[0-9a-f]{2})+)$/.exec(text) ?? [];
  if (data === undefined) return undefined;
  const record = {
    usage: Number(usage),
    selector: Number(selector),
    matchingType: Number(matchingType),
    data,
  } as TlsaRecord;
  return isWhole(record) ? record : undefined;
}

function isWhole({ matchingType, selector, data }: TlsaRecord): boolean {
  if (matchingType !== 0) return data.length === DIGEST_DIGITS[matchingType];
  try {
    if (selector === 0) new X509Certificate(Buffer.from(data, 'hex'));
    else createPublicKey({ key: Buffer.from(data, 'hex'), format: 'der', type: 'spki' });
    return true;
  } catch {
    return false;
  }
}
