/** Writes questions and updates (RFC 2136 section 2) to a primary name server, and reads the records of its answers. */
import { type Answer, answer, decode, encode, name as nameCodec } from 'dns-packet';
import type { RecordValue } from '../domains/published.ts';
import { plainAddress } from '../system/address-block.ts';

/** Types that are published by updates. */
export type UpdateType = Exclude<RecordValue['type'], 'TLSA' | 'CAA'> | 'SRV';

/** The records of one name and one type, by their values in the form of `RecordValue`. SRV is `<priority> <weight> <port> <target>`. */
export type ValueSet = {
  name: string;
  type: UpdateType;
  values: readonly string[];
  /** TTL of values that are added, in seconds, where it is not the usual one. */
  ttlSeconds?: number;
};

export type Update = {
  zone: string;
  /** Sets that must be exactly so; a set without values must not exist (RFC 2136 sections 2.4.2 and 2.4.3). */
  expected: readonly ValueSet[];
  /** Name that must not be in use at all, for an alias, which stands alone (RFC 2136 section 2.4.5). */
  unused?: string;
  added: readonly ValueSet[];
  /** Values that are removed one by one. Others of the same set stay (RFC 2136 section 2.5.4). */
  removed: readonly ValueSet[];
};

/** The data of an SRV record (RFC 2782). */
type SrvValue = { priority?: number; weight?: number; port: number; target: string };

const OPCODE_UPDATE = 0x2800;
const TYPES = { A: 1, SOA: 6, CNAME: 5, MX: 15, TXT: 16, AAAA: 28, SRV: 33, ANY: 255 } as const;
const CLASSES = { IN: 1, NONE: 254 } as const;
/** Usual TTL of the records, in seconds. */
const TTL_SECONDS = 3_600;
/** Maximum length of a character-string in octets (RFC 1035 section 3.3). */
const MAX_CHARACTER_STRING = 255;
const CODE_MASK = 0x000f;

/** Writes a question to the server itself, which is not to ask others. */
export function writeQuestion(name: string, type: UpdateType, id: number): Buffer {
  return encode({ id, type: 'query', flags: 0, questions: [{ name, type }] });
}

/** Writes an update. */
export function writeUpdate({ zone, expected, unused, added, removed }: Update, id: number): Buffer {
  const prerequisites = [
    ...expected.flatMap((set) =>
      set.values.length > 0 ? records(set, CLASSES.IN, 0) : [bare(set.name, TYPES[set.type], CLASSES.NONE)],
    ),
    ...(unused === undefined ? [] : [bare(unused, TYPES.ANY, CLASSES.NONE)]),
  ];
  const updates = [
    ...removed.flatMap((set) => records(set, CLASSES.NONE, 0)),
    ...added.flatMap((set) => records(set, CLASSES.IN, set.ttlSeconds ?? TTL_SECONDS)),
  ];
  const header = Buffer.alloc(12);
  [id, OPCODE_UPDATE, 1, prerequisites.length, updates.length, 0].forEach((value, index) => {
    header.writeUInt16BE(value, 2 * index);
  });
  const zoneSection = [nameCodec.encode(zone), Buffer.from([0, TYPES.SOA, 0, CLASSES.IN])];
  return Buffer.concat([header, ...zoneSection, ...prerequisites, ...updates]);
}

/** Returns the response code. @throws RangeError when the message has no header */
export function codeOf(response: Buffer): number {
  return response.readUInt16BE(2) & CODE_MASK;
}

/** Returns the values of an answer. An alias in place of another type is undefined. @throws Error when the message is malformed */
export function readValues(response: Buffer, name: string, type: UpdateType): string[] | undefined {
  const answers = decode(response).answers ?? [];
  const own = answers.filter((record) => record.name.toLowerCase() === name);
  if (type !== 'CNAME' && own.some((record) => record.type === 'CNAME')) return undefined;
  return own.filter((record) => record.type === type).map(textOf);
}

function textOf({ type, data }: Answer): string {
  switch (type) {
    case 'TXT':
      return Buffer.concat(data as Buffer[]).toString();
    case 'MX': {
      const { preference, exchange } = data as { preference: number; exchange: string };
      return `${preference} ${exchange.toLowerCase()}`;
    }
    case 'SRV': {
      const { priority = 0, weight = 0, port, target } = data as SrvValue;
      return `${priority} ${weight} ${port} ${target === '' ? '.' : target.toLowerCase()}`;
    }
    default:
      return plainAddress(String(data)).toLowerCase();
  }
}

/** Returns a record without data, whose name and type alone count. */
function bare(name: string, type: number, recordClass: number): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(recordClass, 2);
  return Buffer.concat([nameCodec.encode(name), fixed]);
}

function records({ name, type, values }: ValueSet, recordClass: number, ttl: number): Buffer[] {
  const classAt = nameCodec.encode(name).length + 2;
  return values.map((value) => {
    const bytes = Buffer.from(answer.encode({ name, type, ttl, class: 'IN', data: dataOf(type, value) }));
    bytes.writeUInt16BE(recordClass, classAt);
    return bytes;
  });
}

function dataOf(type: UpdateType, value: string): unknown {
  if (type === 'MX') {
    const [preference, exchange] = value.split(' ');
    return { preference: Number(preference), exchange };
  }
  if (type === 'SRV') {
    const [priority, weight, port, target] = value.split(' ');
    return { priority: Number(priority), weight: Number(weight), port: Number(port), target };
  }
  if (type !== 'TXT') return value;
  const bytes = Buffer.from(value);
  const count = Math.max(1, Math.ceil(bytes.length / MAX_CHARACTER_STRING));
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * MAX_CHARACTER_STRING, (index + 1) * MAX_CHARACTER_STRING),
  );
}
