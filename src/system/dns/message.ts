/**
 * DNS messages (RFC 1035 section 4): encodes a question, and parses an answer, which is untrusted input. The package
 * dns-packet decodes record data. This file reads the message around it, so that each record ends where its length
 * says, and skips records of other types. `answer.ts` interprets the result.
 */
import {
  AUTHENTIC_DATA,
  a,
  aaaa,
  caa,
  cname,
  encode,
  mx,
  name as nameCodec,
  ptr,
  RECURSION_DESIRED,
  soa,
  srv,
  TRUNCATED_RESPONSE,
  tlsa,
  txt,
} from 'dns-packet';

export type QuestionType = 'A' | 'AAAA' | 'MX' | 'TXT' | 'CNAME' | 'PTR' | 'SRV' | 'TLSA' | 'CAA';

/** A question. `name` is a host name (`isHostName`), in lower case and without its final dot. */
export type Question = { name: string; type: QuestionType };

export type Query = {
  bytes: Buffer;
  id: number;
  /** The question section, in lower case. */
  question: string;
};

export type RecordData =
  | { type: 'A' | 'AAAA'; address: string }
  | { type: 'MX'; preference: number; exchange: string }
  /** Text record. Its character-strings are joined. */
  | { type: 'TXT'; text: string }
  | { type: 'CNAME'; target: string }
  | { type: 'PTR'; host: string }
  | { type: 'SRV'; priority: number; weight: number; port: number; target: string }
  /** `certificate` is what the record is compared with (RFC 6698 section 2.1), in lower-case hexadecimal. */
  | { type: 'TLSA'; usage: number; selector: number; matchingType: number; certificate: string }
  /** Says which authorities may issue certificates for a name (RFC 8659 section 4.1). */
  | { type: 'CAA'; flags: number; tag: string; value: string }
  | { type: 'SOA'; minimumSeconds: number }
  | { type: 'NS' };

/** One record. Names are in lower case and without their final dot; the root is the empty string. */
export type ResourceRecord = { owner: string; ttlSeconds: number; data: RecordData };

export type Response = {
  /** Response code (RFC 1035 section 4.1.1) with the extended bits of RFC 6891 section 6.1.3. */
  code: number;
  /** True when the message was cut. Its records are then not read. */
  isTruncated: boolean;
  /** True when the server says that it has validated all records of the answer (RFC 4035 section 3.2.3). Servers that are not trusted say so too. */
  isAuthentic: boolean;
  answers: ResourceRecord[];
  authorities: ResourceRecord[];
};

type Reading =
  | { kind: 'response'; response: Response }
  /** The message does not answer this query: it belongs to another query, or is forged. */
  | { kind: 'foreign' }
  /** The message answers this query but is cut off or malformed. */
  | { kind: 'unreadable' };

/**
 * Maximum size of an answer over UDP; larger answers come over TCP. This size passes everywhere without fragments,
 * which can be forged and lost (the value that resolver makers agreed on for DNS Flag Day 2020).
 */
const UDP_PAYLOAD_BYTES = 1_232;
/** Size of the OPT record: root name, type, class, TTL and RDLENGTH (RFC 6891 section 6.1.2). */
const OPT_BYTES = 11;
/** Size of the message header (RFC 1035 section 4.1.1). */
const HEADER_BYTES = 12;
/** Size of TYPE, CLASS and TTL of a record (RFC 1035 section 4.1.3). */
const RECORD_FIXED_BYTES = 8;
/**
 * Maximum number of records of a message. Real answers have far fewer; the limit bounds the cost of names that are
 * compressed into long chains.
 */
const MAX_RECORDS = 1_000;

const RESPONSE_FLAG = 0x8000;
const OPCODE_MASK = 0x7800;
const CODE_MASK = 0x000f;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
const CLASS_INTERNET = 1;
/** Names of the record types that are read (RFC 1035 section 3.2.2, RFC 3596 section 2.1, RFC 2782, RFC 6698 section 7.1). */
const TYPES: Readonly<Record<number, RecordData['type']>> = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  6: 'SOA',
  12: 'PTR',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
  33: 'SRV',
  52: 'TLSA',
  257: 'CAA',
};
const TYPE_OPT = 41;

/**
 * Encodes a query. The AD bit asks for that bit in the answer (RFC 6840 section 5.7). `withEdns` announces that answers over UDP may be longer than 512 bytes (RFC 6891 section 6.2.3).
 */
export function writeQuery(question: Question, id: number, withEdns: boolean): Query {
  const bytes = encode({
    id,
    type: 'query',
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
    questions: [question],
    additionals: withEdns ? [{ name: '.', type: 'OPT', udpPayloadSize: UDP_PAYLOAD_BYTES }] : [],
  });
  const end = bytes.length - (withEdns ? OPT_BYTES : 0);
  return { bytes, id, question: questionSection(bytes, end) };
}

/**
 * Returns the question section in lower case: names compare without regard to case (RFC 1035 section 2.3.3). No other
 * byte of the section is a letter.
 */
function questionSection(message: Buffer, end: number): string {
  return message.toString('latin1', HEADER_BYTES, end).toLowerCase();
}

const EMPTY: Response = {
  code: NO_ERROR,
  isTruncated: false,
  isAuthentic: false,
  answers: [],
  authorities: [],
};

/** Parses a message. It never throws. */
export function readResponse(message: Buffer, query: Query): Reading {
  if (message.length < HEADER_BYTES) return { kind: 'foreign' };
  const flags = message.readUInt16BE(2);
  const code = flags & CODE_MASK;
  if (message.readUInt16BE(0) !== query.id) return { kind: 'foreign' };
  if ((flags & RESPONSE_FLAG) === 0 || (flags & OPCODE_MASK) !== 0) return { kind: 'foreign' };
  const end = questionEnd(message, query, code);
  if (end === undefined) return { kind: 'foreign' };
  if ((flags & TRUNCATED_RESPONSE) !== 0) {
    return { kind: 'response', response: { ...EMPTY, code, isTruncated: true } };
  }
  const isAuthentic = (flags & AUTHENTIC_DATA) !== 0;
  try {
    return { kind: 'response', response: { ...readSections(message, end, code), isAuthentic } };
  } catch {
    return { kind: 'unreadable' };
  }
}

/**
 * Returns the offset after the question section, which must equal the query's (RFC 5452 section 9.1); undefined when
 * it does not. A server that could not parse the query may leave the section out, but only with an error code.
 */
function questionEnd(message: Buffer, query: Query, code: number): number | undefined {
  const count = message.readUInt16BE(4);
  if (count === 0 && code !== NO_ERROR && code !== NO_SUCH_NAME) return HEADER_BYTES;
  const end = HEADER_BYTES + query.question.length;
  return count === 1 && questionSection(message, end) === query.question ? end : undefined;
}

function readSections(message: Buffer, start: number, code: number): Response {
  const [answers = 0, authorities = 0, additionals = 0] = [6, 8, 10].map((at) => message.readUInt16BE(at));
  if (answers + authorities + additionals > MAX_RECORDS) throw new RangeError('too many records');
  const response: Response = { ...EMPTY, code, answers: [], authorities: [] };
  let offset = start;
  for (let index = 0; index < answers + authorities + additionals; index++) {
    const { record, extendedCode, end } = readRecord(message, offset);
    offset = end;
    response.code += extendedCode << 4;
    if (record === undefined) continue;
    if (index < answers) response.answers.push(record);
    else if (index < answers + authorities) response.authorities.push(record);
  }
  return response;
}

type Step = { record: ResourceRecord | undefined; extendedCode: number; end: number };

/**
 * Reads one record (RFC 1035 section 4.1.3).
 * @throws Error when the record exceeds the message
 */
function readRecord(message: Buffer, start: number): Step {
  const owner = canonical(nameCodec.decode(message, start));
  const offset = start + nameCodec.decode.bytes;
  const type = message.readUInt16BE(offset);
  const ttlSeconds = message.readUInt32BE(offset + 4);
  const lengthAt = offset + RECORD_FIXED_BYTES;
  const end = lengthAt + 2 + message.readUInt16BE(lengthAt);
  if (end > message.length) throw new RangeError('a record is cut off');
  // The TTL of OPT begins with the upper bits of the response code (RFC 6891 section 6.1.3).
  if (type === TYPE_OPT) return { record: undefined, extendedCode: ttlSeconds >>> 24, end };
  const known = TYPES[type];
  if (known === undefined || message.readUInt16BE(offset + 2) !== CLASS_INTERNET) {
    return { record: undefined, extendedCode: 0, end };
  }
  const data = readData(known, message, { start: lengthAt, end });
  return { record: { owner, ttlSeconds: readTtl(ttlSeconds), data }, extendedCode: 0, end };
}

/** Returns the TTL. A TTL with its highest bit set counts as 0 (RFC 2181 section 8). */
function readTtl(seconds: number): number {
  return seconds > 0x7fff_ffff ? 0 : seconds;
}

function readData(
  type: RecordData['type'],
  message: Buffer,
  { start, end }: { start: number; end: number },
): RecordData {
  const read = <T>({ decode }: { decode: { (message: Buffer, offset: number): T; bytes: number } }): T => {
    const value = decode(message, start);
    if (start + decode.bytes !== end) throw new RangeError('a record is longer or shorter than its data');
    return value;
  };
  switch (type) {
    case 'A':
      return { type, address: read(a) };
    case 'AAAA':
      return { type, address: read(aaaa) };
    case 'CNAME':
      return { type, target: canonical(read(cname)) };
    case 'PTR':
      return { type, host: canonical(read(ptr)) };
    case 'MX': {
      const { preference, exchange } = read(mx);
      return { type, preference, exchange: canonical(exchange) };
    }
    case 'SRV': {
      const { priority, weight, port, target } = read(srv);
      return { type, priority, weight, port, target: canonical(target) };
    }
    case 'TXT':
      return { type, text: Buffer.concat(read(txt)).toString() };
    case 'TLSA': {
      const { usage, selector, matchingType, certificate } = read(tlsa);
      return { type, usage, selector, matchingType, certificate: certificate.toString('hex') };
    }
    case 'CAA': {
      const { flags, tag, value } = read(caa);
      return { type, flags, tag, value };
    }
    case 'SOA':
      return { type, minimumSeconds: read(soa).minimum };
    case 'NS':
      return { type };
  }
}

function canonical(name: string): string {
  return name === '.' ? '' : name.toLowerCase();
}
