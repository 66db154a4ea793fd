/**
 * Finds the keys of signatures. A record is looked up once for its TTL, by the cache of the DNS, and parsed once while its
 * text stays the same: parsing costs more than the signature.
 */

import type { DnsLookups } from '../../../system/dns.ts';
import { createLru } from '../../../system/lru.ts';
import { parseVerificationKey, type UnusableKey, type VerificationKey } from './key-record.ts';

export type FoundKey = VerificationKey | UnusableKey | { kind: 'failed'; reason: string };

/** Parses key records, and remembers the keys of the latest ones. */
export type KeyParser = (text: string) => VerificationKey | UnusableKey;

/** Maximum number of parsed keys that are kept. Each takes about 2 KB. Our own limit. */
const MAX_KEYS = 2_000;
/** Maximum number of records at one name that are tried. There should be one (RFC 6376 section 3.6.2.2). Our own limit. */
const MAX_RECORDS = 4;

/** Returns a parser with an empty memory. */
export function createKeyParser(): KeyParser {
  const parsed = createLru<string, VerificationKey | UnusableKey>(MAX_KEYS);
  return (text) => {
    const known = parsed.get(text);
    if (known) return known;
    const key = parseVerificationKey(text);
    parsed.set(text, key);
    return key;
  };
}

type SignerName = { selector: string; domain: string };

/** Finds the key that `selector` names at `domain`. Both have been checked. It never rejects. */
export async function findKey(
  dns: Pick<DnsLookups, 'txt'>,
  parse: KeyParser,
  { selector, domain }: SignerName,
): Promise<FoundKey> {
  const answer = await dns.txt(`${selector}._domainkey.${domain}`);
  switch (answer.kind) {
    case 'failed':
      return { kind: 'failed', reason: `the key could not be looked up: ${answer.reason}` };
    case 'no-name':
    case 'no-data':
      return { kind: 'unusable', result: 'permerror', reason: 'there is no key' };
    case 'found': {
      const keys = answer.records.slice(0, MAX_RECORDS).map(parse);
      const [first] = keys;
      const usable = keys.find(({ kind }) => kind === 'key');
      return usable ?? first ?? { kind: 'unusable', result: 'permerror', reason: 'there is no key' };
    }
  }
}
