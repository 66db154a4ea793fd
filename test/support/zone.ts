/**
 * Parses zone text. Each line is one record, `name [ttl] [IN] TYPE rdata`, of type A, AAAA, MX, TXT, CNAME, PTR, SRV, TLSA or CAA. Every
 * name is absolute, with or without its final dot, and `;` starts a comment outside quotes. The in-process DNS
 * (zone-dns.ts) and the DNS server (dns-server.ts) use it.
 */

export type RecordData =
  | { type: 'A'; address: string }
  | { type: 'AAAA'; address: string }
  /** `exchange` is empty for a null MX (`MX 0 .`, RFC 7505 section 3). */
  | { type: 'MX'; preference: number; exchange: string }
  /** Character-strings of at most 255 octets (RFC 1035 section 3.3); longer text is split. */
  | { type: 'TXT'; strings: string[] }
  | { type: 'CNAME'; target: string }
  | { type: 'PTR'; host: string }
  /** `target` is empty for a service that is not offered (RFC 2782). */
  | { type: 'SRV'; priority: number; weight: number; port: number; target: string }
  | { type: 'TLSA'; usage: number; selector: number; matchingType: number; certificate: string }
  | { type: 'CAA'; flags: number; tag: string; value: string };

export type RecordType = RecordData['type'];

/** A record. Its name is in lower case and has no final dot. */
export type ZoneRecord = { name: string; ttlSeconds: number } & RecordData;

/** Records by their name. */
export type Zone = Map<string, ZoneRecord[]>;

export type Lookup =
  /** `aliases` are the CNAMEs that led to `records`, in the order in which they were followed. */
  | { kind: 'found'; aliases: ZoneRecord[]; records: ZoneRecord[] }
  | { kind: 'no-data'; aliases: ZoneRecord[] }
  | { kind: 'no-name'; aliases: ZoneRecord[] }
  | { kind: 'loop' };

const DEFAULT_TTL_SECONDS = 60;
/** Time for which a negative answer may be cached (RFC 2308 section 5). */
export const NEGATIVE_TTL_SECONDS = 60;
const MAX_CHARACTER_STRING = 255;
/** Maximum number of aliases that are followed, the same number as in common resolvers. */
const MAX_ALIAS_CHAIN = 16;

/**
 * Parses a zone.
 * @throws Error for a line that cannot be parsed, or for a name with a CNAME and other records (RFC 1034 section 3.6.2)
 */
export function parseZone(text: string): Zone {
  const zone: Zone = new Map();
  for (const line of text.split('\n')) {
    const words = tokenize(line);
    if (words.length === 0) continue;
    const record = parseRecord(words, line);
    zone.set(record.name, [...(zone.get(record.name) ?? []), record]);
  }
  for (const [name, records] of zone) {
    if (records.length > 1 && records.some((record) => record.type === 'CNAME')) {
      throw new Error(`zone: ${name} has a CNAME and other records`);
    }
  }
  return zone;
}

/**
 * Looks up records as a resolver does. A name without records that has names below it exists, so its result is
 * `no-data` (RFC 8020 section 2).
 */
export function lookUp(zone: Zone, name: string, type: RecordType): Lookup {
  const aliases: ZoneRecord[] = [];
  let current = canonicalName(name);
  while (aliases.length <= MAX_ALIAS_CHAIN) {
    const here = zone.get(current);
    if (here === undefined) return { kind: hasNamesBelow(zone, current) ? 'no-data' : 'no-name', aliases };
    const records = here.filter((record) => record.type === type);
    if (records.length > 0) return { kind: 'found', aliases, records };
    const alias = here[0];
    if (alias?.type !== 'CNAME') return { kind: 'no-data', aliases };
    aliases.push(alias);
    current = canonicalName(alias.target);
  }
  return { kind: 'loop' };
}

/** Returns the name in lower case and without its final dot. The root is the empty string. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function hasNamesBelow(zone: Zone, name: string): boolean {
  return [...zone.keys()].some((known) => known.endsWith(`.${name}`));
}

type Word = { text: string; quoted: boolean };

function tokenize(line: string): Word[] {
  const words: Word[] = [];
  for (const match of line.matchAll(/;.*$|"((?:[^"\\]|\\.)*)"|([^\s";]+)|(")/g)) {
    const [whole, quoted, bare, openQuote] = match;
    if (openQuote !== undefined) throw new Error(`zone: open quote in: ${line}`);
    if (whole.startsWith(';')) break;
    if (bare !== undefined) words.push({ text: bare, quoted: false });
    else words.push({ text: unescapeText(quoted ?? ''), quoted: true });
  }
  return words;
}

/** Replaces escapes (RFC 1035 section 5.1): `\DDD` is an octet in decimal, and any other `\X` is X. */
function unescapeText(text: string): string {
  return text.replace(/\\(?:(\d{3})|(.))/g, (_, decimal: string | undefined, character: string) =>
    decimal === undefined ? character : String.fromCharCode(Number(decimal)),
  );
}

function parseRecord(words: Word[], line: string): ZoneRecord {
  const [name, ...rest] = words;
  let ttlSeconds = DEFAULT_TTL_SECONDS;
  if (/^\d+$/.test(rest[0]?.text ?? '')) ttlSeconds = Number(rest.shift()?.text);
  if (rest[0]?.text.toUpperCase() === 'IN') rest.shift();
  const type = rest.shift()?.text.toUpperCase();
  const data = parseData(type, rest);
  if (name === undefined || data === undefined) throw new Error(`zone: cannot read: ${line}`);
  return { name: canonicalName(name.text), ttlSeconds, ...data };
}

function parseData(type: string | undefined, words: Word[]): RecordData | undefined {
  const [first, second] = words.map((word) => word.text);
  if (first === undefined) return undefined;
  if (type === 'TXT') return { type, strings: words.flatMap((word) => characterStrings(word.text)) };
  if (type === 'MX' && words.length === 2 && second !== undefined && /^\d+$/.test(first)) {
    return { type, preference: Number(first), exchange: canonicalName(second) };
  }
  if (type === 'SRV' && words.length === 4) {
    const [priority = 0, weight = 0, port = 0] = words.map((word) => Number(word.text));
    return { type, priority, weight, port, target: canonicalName(words[3]?.text ?? '') };
  }
  if (type === 'TLSA' && words.length === 4) {
    const [usage = 0, selector = 0, matchingType = 0] = words.map((word) => Number(word.text));
    return { type, usage, selector, matchingType, certificate: words[3]?.text.toLowerCase() ?? '' };
  }
  if (type === 'CAA' && words.length === 3) {
    const [flags = '', tag = '', value = ''] = words.map((word) => word.text);
    return { type, flags: Number(flags), tag, value };
  }
  if (words.length !== 1) return undefined;
  if (type === 'A' || type === 'AAAA') return { type, address: first };
  if (type === 'CNAME') return { type, target: canonicalName(first) };
  if (type === 'PTR') return { type, host: canonicalName(first) };
  return undefined;
}

function characterStrings(text: string): string[] {
  const strings: string[] = [];
  for (let start = 0; start === 0 || start < text.length; start += MAX_CHARACTER_STRING) {
    strings.push(text.slice(start, start + MAX_CHARACTER_STRING));
  }
  return strings;
}
