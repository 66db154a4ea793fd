/** Compares the records that the operator publishes with those that DNS has. Only an answer of DNS is evidence. */
import { isSpfRecord, spfTerms } from '../mail/auth/spf-record.ts';
import { parseDkimKeyRecord } from '../mail/dkim/key.ts';
import { plainAddress } from '../system/address-block.ts';
import type { Clock } from '../system/clock.ts';
import type { DnsAnswer, DnsLookups } from '../system/dns.ts';
import { cleanForeignText } from '../system/foreign-text.ts';

/** A record to publish. Names have no final dot. The value of an MX record is `<preference> <host>`. */
export type RecordValue = {
  type: 'A' | 'AAAA' | 'MX' | 'TXT' | 'CNAME' | 'TLSA' | 'CAA';
  name: string;
  value: string;
};

/** The values that DNS has at the name and for the type of a record. */
export type Published = {
  state: 'published' | 'missing' | 'different' | 'unknown';
  /** Values that DNS has, in the form of those to publish. */
  found: string[];
  /** Why nothing is known; only in the state `unknown`. */
  reason?: string;
};

type Lookups = Pick<DnsLookups, 'a' | 'aaaa' | 'mx' | 'txt' | 'cname' | 'tlsa' | 'caa'>;
type Limit = { clock: Pick<Clock, 'elapsed'>; timeoutMs: number };

/** Maximum number of records that are looked up at the same time, so that deliveries still get answers. */
const CONCURRENCY = 16;
/** Maximum number of values of one record that are shown. */
const MAX_FOUND = 10;
/** Label that stands for the asterisk of a wildcard, which is no name that anybody looks up (RFC 4592 section 2.1.1). */
const WILDCARD_PROBE = 'postrider-probe';

/** Returns for each record what DNS has, in their order. Records that the time does not suffice for are `unknown`. */
export async function comparePublished(
  dns: Lookups,
  records: readonly RecordValue[],
  { clock, timeoutMs }: Limit,
): Promise<Published[]> {
  const until = clock.elapsed() + timeoutMs;
  const results: Published[] = [];
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < records.length; index = next++) {
      const record = records[index];
      if (record === undefined) return;
      results[index] =
        clock.elapsed() < until ? await compare(dns, record) : unknown('there was no time left');
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return results;
}

async function compare(dns: Lookups, record: RecordValue): Promise<Published> {
  const name = record.name.replace(/^\*/, WILDCARD_PROBE);
  const answer = await lookUp(dns, record.type, name);
  if (answer.kind === 'failed') return unknown(answer.reason);
  const found = answer.kind === 'found' ? answer.records : [];
  const isThere = found.some((value) => isSame(record, value));
  if (isThere && !isAmbiguous(record, found)) return { state: 'published', found: shown(found) };
  if (record.type === 'CNAME' && found.length === 0) return compareAddresses(dns, { ...record, name });
  // Other texts, such as those by which services prove who owns a name, may stand beside ours.
  const rivals = record.type === 'TXT' ? found.filter((value) => isSameKind(record.value, value)) : found;
  return { state: rivals.length > 0 ? 'different' : 'missing', found: shown(rivals) };
}

/** Returns the values that DNS has, as zone files have them but without final dots. */
async function lookUp(dns: Lookups, type: RecordValue['type'], name: string): Promise<DnsAnswer<string>> {
  switch (type) {
    case 'A':
      return dns.a(name);
    case 'AAAA':
      return dns.aaaa(name);
    case 'TXT':
      return dns.txt(name);
    case 'CNAME':
      return dns.cname(name);
    case 'TLSA':
      return dns.tlsa(name);
    case 'CAA':
      return dns.caa(name);
    case 'MX': {
      const answer = await dns.mx(name);
      if (answer.kind !== 'found') return answer;
      return {
        ...answer,
        records: answer.records.map(({ preference, exchange }) => `${preference} ${exchange}`),
      };
    }
  }
}

/** Returns true when a value that DNS has does what the record is for. */
function isSame({ type, value }: RecordValue, found: string): boolean {
  switch (type) {
    case 'MX':
      // The preference is the operator's choice.
      return lastWord(found) === lastWord(value);
    case 'TXT': {
      if (isSpfRecord(value)) return isSpfRecord(found) && allowsAll(found, value);
      const key = parseDkimKeyRecord(value)?.publicKeyBase64;
      if (key !== undefined && key !== '') return parseDkimKeyRecord(found)?.publicKeyBase64 === key;
      return words(found).join(' ') === words(value).join(' ');
    }
    default:
      // An IPv6 address has many spellings; other text is compared as it is.
      return plainAddress(found).toLowerCase() === plainAddress(value).toLowerCase();
  }
}

/** Returns true when an SPF record has every mechanism of ours. Its owner may allow others, and choose what becomes of all the rest. */
function allowsAll(found: string, value: string): boolean {
  const allowed = spfTerms(found.toLowerCase());
  return spfTerms(value.toLowerCase())
    .filter((term) => !/^[+?~-]?all$/.test(term))
    .every((term) => allowed.includes(term));
}

/** Receivers refuse to choose between several SPF records (RFC 7208 section 4.5), and between several keys. */
function isAmbiguous({ type, value }: RecordValue, found: readonly string[]): boolean {
  return type === 'TXT' && found.filter((other) => isSameKind(value, other)).length > 1;
}

/** Returns true when both texts have the same purpose: both are SPF records, or both begin with the same version. */
function isSameKind(value: string, other: string): boolean {
  if (isSpfRecord(value)) return isSpfRecord(other);
  return versionOf(value) === versionOf(other);
}

function versionOf(text: string): string {
  return text.split(';', 1).join('').trim().toLowerCase();
}

/** A name may have the addresses of the target itself instead of an alias, which leads to the same place. */
async function compareAddresses(dns: Lookups, { name, value }: RecordValue): Promise<Published> {
  const [own, wanted] = await Promise.all([dns.a(name), dns.a(value)]);
  const found = own.kind === 'found' ? own.records : [];
  const isThere = wanted.kind === 'found' && found.some((address) => wanted.records.includes(address));
  if (isThere) return { state: 'published', found: shown(found) };
  return { state: found.length > 0 ? 'different' : 'missing', found: shown(found) };
}

function unknown(reason: string): Published {
  return { state: 'unknown', found: [], reason };
}

function lastWord(text: string): string {
  return (words(text).at(-1) ?? '').toLowerCase();
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

function shown(found: readonly string[]): string[] {
  return found.slice(0, MAX_FOUND).map((text) => cleanForeignText(text));
}
