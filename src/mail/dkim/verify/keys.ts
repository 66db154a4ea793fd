/**
 * Finds and parses the keys of signatures (RFC 6376 section 3.6.1, RFC 8463). A record is looked up once for its TTL, by the cache of the DNS,
 * and parsed once while its text stays the same: parsing costs more than the signature.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { DnsLookups } from '../../../system/dns.ts';
import { createLru } from '../../../system/lru.ts';
import { parseRecordTags, parseTagItems, withoutWhiteSpace } from '../tag-list.ts';

export type FoundKey = VerificationKey | UnusableKey | { kind: 'failed'; reason: string };

/** Parses key records, and remembers the keys of the latest ones. */
export type KeyParser = (text: string) => VerificationKey | UnusableKey;

/** Maximum number of parsed keys that are kept. Each takes about 2 KB. */
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

type VerificationKey = {
  kind: 'key';
  type: 'rsa' | 'ed25519';
  key: KeyObject;
  /** True when the domain of an identity must be the one that signed (`t=s`). */
  isStrict: boolean;
  /** True when the domain only tests DKIM (`t=y`). */
  isTesting: boolean;
};

type UnusableKey = { kind: 'unusable'; result: 'permerror' | 'policy'; reason: string };

/** Maximum length of a record. One with an RSA key of 8,192 bits has 1,400 characters. */
const MAX_RECORD_CHARACTERS = 4_096;
/** Minimum size of an RSA key (RFC 8301 section 3.2). */
const MIN_RSA_BITS = 1_024;
/** Maximum size of an RSA key. It bounds the cost of a signature, which grows with the square of the size. */
const MAX_RSA_BITS = 8_192;
/** Maximum public exponent. All keys in use have 3 or 65,537; a large one makes a signature fifty times as expensive. */
const MAX_RSA_EXPONENT = 2n ** 33n;
const ED25519_BYTES = 32;
/** Beginning of a SubjectPublicKeyInfo of an Ed25519 key (RFC 8410 section 4). The record has only the 32 bytes after it. */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Parses the text of a key record. It never throws. */
export function parseVerificationKey(text: string): VerificationKey | UnusableKey {
  const tags = text.length > MAX_RECORD_CHARACTERS ? undefined : parseRecordTags(text);
  if (!tags) return unusable('the key record is invalid');
  const [first] = tags.keys();
  const version = tags.get('v');
  if (version !== undefined && (version !== 'DKIM1' || first !== 'v'))
    return unusable('the version of the key is unknown');
  if (!listHas(tags.get('s'), ['*', 'email'])) return unusable('the key is not for mail');
  if (!listHas(tags.get('h'), ['sha256'])) return unusable('the key is not for SHA-256');
  const published = withoutWhiteSpace(tags.get('p') ?? '');
  if (published === '') return unusable(tags.has('p') ? 'the key is revoked' : 'the key record is invalid');
  const key = BASE64.test(published)
    ? readKey(tags.get('k') ?? 'rsa', Buffer.from(published, 'base64'))
    : undefined;
  if (!key) return unusable('the key cannot be read');
  if (key.kind === 'unusable') return key;
  const flags = parseTagItems(tags.get('t') ?? '').map((flag) => flag.toLowerCase());
  return { ...key, isStrict: flags.includes('s'), isTesting: flags.includes('y') };
}

function unusable(reason: string): UnusableKey {
  return { kind: 'unusable', result: 'permerror', reason };
}

/** Returns true when a colon-separated list contains one of `wanted`. An absent list allows everything. */
function listHas(list: string | undefined, wanted: readonly string[]): boolean {
  return list === undefined || parseTagItems(list.toLowerCase()).some((item) => wanted.includes(item));
}

type ReadKey = Pick<VerificationKey, 'kind' | 'type' | 'key'>;

function readKey(type: string, bytes: Buffer): ReadKey | UnusableKey | undefined {
  switch (type.toLowerCase()) {
    case 'rsa':
      return readRsaKey(bytes);
    case 'ed25519': {
      // The record has the key itself, without a structure around it (RFC 8463 section 4.2).
      if (bytes.length !== ED25519_BYTES) return undefined;
      const key = importKey(Buffer.concat([ED25519_PREFIX, bytes]), 'spki');
      return key && { kind: 'key', type: 'ed25519', key };
    }
    default:
      return unusable('the type of the key is unknown');
  }
}

function readRsaKey(bytes: Buffer): ReadKey | UnusableKey | undefined {
  // The standard names RSAPublicKey (RFC 6376 section 3.6.1); nearly all records have a SubjectPublicKeyInfo.
  const key = importKey(bytes, 'spki') ?? importKey(bytes, 'pkcs1');
  if (key?.asymmetricKeyType !== 'rsa') return undefined;
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < MIN_RSA_BITS)
    return { kind: 'unusable', result: 'policy', reason: `a key of ${modulusLength} bits is too weak` };
  if (modulusLength > MAX_RSA_BITS || publicExponent > MAX_RSA_EXPONENT)
    return unusable('the key is too large');
  return { kind: 'key', type: 'rsa', key };
}

function importKey(bytes: Buffer, type: 'spki' | 'pkcs1'): KeyObject | undefined {
  try {
    return createPublicKey({ key: bytes, format: 'der', type });
  } catch {
    return undefined;
  }
}
