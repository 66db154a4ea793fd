/** Records as bytes of answers. */
import { answer, name as nameCodec } from 'dns-packet';
import { CLASS_INTERNET, TYPES } from './codes.ts';

/** The records of one name and one type. */
export type RecordSet = {
  count: number;
  /** The records with their owner as a pointer to the question. */
  asked: Buffer;
  /** The records with their owner in full, for other places than the answer to its own name. */
  full: Buffer;
  /** Names that the records lead to, in the form of the wire; empty for types that lead to none. */
  targets: readonly string[];
};

/** Owner of an answer: a pointer to the name of the question, which begins after the header (RFC 1035 section 4.1.4). */
const POINTER_TO_QUESTION = Buffer.from([0xc0, 0x0c]);
/** TTL of the answer to a question for records of any type, in seconds. */
const ANY_TTL_SECONDS = 3_600;

/** A record as dns-packet encodes it. */
export type WireRecord = { type: string; name: string; ttl: number; data: unknown };

/** Returns the records of one name and one type. */
export function encodeRecords(records: readonly WireRecord[], targets: readonly string[]): RecordSet {
  const full = records.map((record) => Buffer.from(answer.encode({ ...record, class: 'IN' })));
  const asked = full.map((bytes, index) => {
    const owner = nameCodec.encode(records[index]?.name ?? '').length;
    return Buffer.concat([POINTER_TO_QUESTION, bytes.subarray(owner)]);
  });
  return { count: records.length, asked: Buffer.concat(asked), full: Buffer.concat(full), targets };
}

/** The only answer to a question for records of any type (RFC 8482 section 4.2): HINFO with the name of that document. */
export const MINIMAL_ANY: RecordSet = {
  count: 1,
  asked: Buffer.concat([POINTER_TO_QUESTION, hinfo()]),
  full: Buffer.alloc(0),
  targets: [],
};

function hinfo(): Buffer {
  const fixed = Buffer.alloc(10);
  const data = Buffer.from('\x07RFC8482\x00', 'latin1');
  fixed.writeUInt16BE(TYPES.HINFO, 0);
  fixed.writeUInt16BE(CLASS_INTERNET, 2);
  fixed.writeUInt32BE(ANY_TTL_SECONDS, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([fixed, data]);
}
