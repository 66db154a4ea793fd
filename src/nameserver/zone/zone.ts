/** A zone in memory: its records as bytes of answers, and the lookup of a name (RFC 1034 section 4.3.2, RFC 4592 section 3.3). */
import { name as nameCodec } from 'dns-packet';
import { TYPES } from '../wire/codes.ts';
import { encodeRecords, type RecordSet, type WireRecord } from '../wire/record-set.ts';
import type { ZoneRecord } from './records.ts';

/** The records of one name by their types. It is empty for a name that only has names below it (RFC 8020 section 2). */
export type ZoneNode = ReadonlyMap<number, RecordSet>;

type Found = { kind: 'outside' } | { kind: 'no-name' } | { kind: 'node'; node: ZoneNode };

export type Zone = {
  /** Grows with each change (RFC 1035 section 3.3.13). */
  serial: number;
  /** Number of records, SOA included. */
  records: number;
  soa: RecordSet;
  /** Returns what the zone has for a name in the form of `Question`. */
  find(name: string): Found;
};

type ZoneOptions = { apex: string; primary: string; serial: number };

const WILDCARD = '\x01*';
/** The value of a CAA record as it is printed (RFC 8659 section 4.1.1). */
const CAA = /^(?<flags>\d+) (?<tag>\w+) "(?<text>.*)"$/;
/** Maximum length of a character-string in octets (RFC 1035 section 3.3). */
const MAX_CHARACTER_STRING = 255;
/**
 * Times of SOA, in seconds. Nobody transfers the zone, so that only `minimum` has an effect: the time for which resolvers remember that a
 * record is not there (RFC 2308 section 4). It is short, so that the record of a new domain is soon seen.
 */
const SOA_SECONDS = { refresh: 3_600, retry: 600, expire: 1_209_600, minimum: 60 };

/** Builds a zone of records that are all in it. */
export function buildZone(records: readonly ZoneRecord[], { apex, primary, serial }: ZoneOptions): Zone {
  const soaRecord = {
    type: 'SOA',
    name: apex,
    // SOA of a negative answer has the smaller of its TTL and its minimum (RFC 2308 section 5).
    ttl: SOA_SECONDS.minimum,
    data: { mname: primary, rname: `hostmaster.${apex}`, serial, ...SOA_SECONDS },
  };
  const soa = encodeRecords([soaRecord], []);
  const apexKey = keyOf(apex);
  const nodes = new Map<string, Map<number, RecordSet>>([[apexKey, new Map([[TYPES.SOA, soa]])]]);
  for (const [, group] of Map.groupBy(records, ({ name, type }) => `${name} ${type}`)) {
    const [first] = group;
    if (!first) continue;
    const key = keyOf(first.name);
    for (let name = key; !nodes.has(name); name = parentOf(name)) nodes.set(name, new Map());
    nodes.get(key)?.set(TYPES[first.type], encodeRecords(group.map(toWire), group.flatMap(targetsOf)));
  }
  return { serial, records: records.length + 1, soa, find: (name) => find(nodes, apexKey, name) };
}

function find(nodes: ReadonlyMap<string, ZoneNode>, apex: string, name: string): Found {
  const exact = nodes.get(name);
  if (exact) return { kind: 'node', node: exact };
  let encloser = name;
  // A name whose label only ends like the apex is passed by, because each step removes a whole label.
  do {
    if (encloser.length <= apex.length) return { kind: 'outside' };
    encloser = parentOf(encloser);
  } while (!nodes.has(encloser));
  const wildcard = nodes.get(WILDCARD + encloser);
  return wildcard ? { kind: 'node', node: wildcard } : { kind: 'no-name' };
}

/** Returns a name in the form of `Question`. */
function keyOf(name: string): string {
  return nameCodec.encode(name).toString('latin1').slice(0, -1).toLowerCase();
}

function parentOf(key: string): string {
  return key.slice(1 + key.charCodeAt(0));
}

function toWire({ type, name, ttlSeconds: ttl, value }: ZoneRecord): WireRecord {
  return { type, name, ttl, data: dataOf(type, value) };
}

function dataOf(type: ZoneRecord['type'], value: string): unknown {
  switch (type) {
    case 'TXT':
      return characterStrings(value);
    case 'MX': {
      const [preference, exchange] = value.split(' ');
      return { preference: Number(preference), exchange };
    }
    case 'CAA': {
      const { flags = '0', tag, text } = CAA.exec(value)?.groups ?? {};
      return { flags: Number(flags), tag, value: text };
    }
    default:
      return value;
  }
}

function characterStrings(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const count = Math.max(1, Math.ceil(bytes.length / MAX_CHARACTER_STRING));
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * MAX_CHARACTER_STRING, (index + 1) * MAX_CHARACTER_STRING),
  );
}

function targetsOf({ type, value }: ZoneRecord): string[] {
  return type === 'CNAME' || type === 'NS' ? [keyOf(value)] : [];
}
