/**
 * Reads queries, which are untrusted input. It never follows a compression pointer, since the names of a query need none: a pointer in the
 * question is an error, and elsewhere it only ends a name. The work is thus bounded by the length of the message.
 */
import { CLASS_INTERNET, CODES, FLAG_DNSSEC_OK, FLAGS, HEADER_BYTES, OPTION_COOKIE, TYPES } from './codes.ts';

/** EDNS of a query (RFC 6891 section 6.1). */
type Edns = {
  /** Size of the largest response over UDP that the client takes. */
  payloadBytes: number;
  isDnssecOk: boolean;
  /** Cookie of the client, with that of the server if it has one (RFC 7873 section 4); undefined without a cookie. */
  cookie: Buffer | undefined;
};

/** The head of a message, which every response repeats. */
export type Head = {
  message: Buffer;
  /** End of the question in the message; of the header when there is no question. */
  questionEnd: number;
  edns: Edns | undefined;
};

export type Question = {
  /** Labels of the name, each after its length, in lower case and without the root: `\x02mx\x07example`. */
  name: string;
  type: number;
};

export type Reading =
  | { kind: 'question'; head: Head; question: Question }
  /** A client asks for a cookie alone (RFC 7873 section 5.4). */
  | { kind: 'cookie'; head: Head }
  | { kind: 'refused'; head: Head; code: (typeof CODES)[keyof typeof CODES] }
  /** The message is no query, so that an answer could begin a loop between two servers. */
  | { kind: 'ignored' };

/** Maximum length of a name on the wire, its root included (RFC 1035 section 2.3.4). */
const MAX_NAME_BYTES = 255;
/** Maximum length of a label, beyond which the length is a pointer or not defined (RFC 1035 section 4.1.4). */
const MAX_LABEL_BYTES = 63;
/** Smallest length byte that begins a compression pointer. */
const MIN_POINTER = 0xc0;
const POINTER_BYTES = 2;
/** Size of TYPE and CLASS of a question. */
const QUESTION_FIXED_BYTES = 4;
/** Size of TYPE, CLASS, TTL and RDLENGTH of a record. */
const RECORD_FIXED_BYTES = 10;
/** Size of the code and the length before each option of OPT. */
const OPTION_HEAD_BYTES = 4;
const CLIENT_COOKIE_BYTES = 8;
/** Minimum and maximum size of a cookie with the part of the server (RFC 7873 section 5.2.2). */
const MIN_FULL_COOKIE_BYTES = 16;
const MAX_FULL_COOKIE_BYTES = 40;

/** Reads a message. It never throws. */
export function readQuery(message: Buffer): Reading {
  if (message.length < HEADER_BYTES) return { kind: 'ignored' };
  const flags = message.readUInt16BE(2);
  if ((flags & FLAGS.response) !== 0) return { kind: 'ignored' };
  const bare: Head = { message, questionEnd: HEADER_BYTES, edns: undefined };
  if ((flags & FLAGS.opcode) !== 0) return { kind: 'refused', head: bare, code: CODES.notImplemented };
  const [questions, answers, authorities, additionals] = counts(message);
  const end = questions === 1 ? questionEnd(message) : questions === 0 ? HEADER_BYTES : undefined;
  if (end === undefined) return { kind: 'refused', head: bare, code: CODES.formatError };
  const head: Head = { ...bare, questionEnd: end };
  const type = questions === 1 ? message.readUInt16BE(end - 4) : 0;
  // A request for a changed zone has a record in its authority section (RFC 1995 section 3), and is refused whatever it holds.
  if (type === TYPES.AXFR || type === TYPES.IXFR) return { kind: 'refused', head, code: CODES.refused };
  const edns = answers === 0 && authorities === 0 ? readEdns(message, end, additionals) : 'malformed';
  if (edns === 'malformed') return { kind: 'refused', head, code: CODES.formatError };
  const complete: Head = { ...head, edns: edns?.edns };
  if (edns && edns.version > 0) return { kind: 'refused', head: complete, code: CODES.badVersion };
  if (questions === 0) {
    const asksForCookie = complete.edns?.cookie !== undefined;
    return asksForCookie
      ? { kind: 'cookie', head: complete }
      : { kind: 'refused', head: complete, code: CODES.formatError };
  }
  if (message.readUInt16BE(end - 2) !== CLASS_INTERNET)
    return { kind: 'refused', head: complete, code: CODES.refused };
  const name = message.toString('latin1', HEADER_BYTES, end - QUESTION_FIXED_BYTES - 1).toLowerCase();
  return { kind: 'question', head: complete, question: { name, type } };
}

function counts(message: Buffer): [number, number, number, number] {
  const at = (offset: number) => message.readUInt16BE(offset);
  return [at(4), at(6), at(8), at(10)];
}

/** Returns the end of the only question; undefined when its name is compressed, too long or cut off. */
function questionEnd(message: Buffer): number | undefined {
  let offset = HEADER_BYTES;
  for (;;) {
    const length = message[offset];
    if (length === undefined || length > MAX_LABEL_BYTES) return undefined;
    offset += 1 + length;
    if (length === 0) break;
  }
  const end = offset + QUESTION_FIXED_BYTES;
  return offset - HEADER_BYTES > MAX_NAME_BYTES || end > message.length ? undefined : end;
}

type FoundEdns = { version: number; edns: Edns };

/** Reads the additional records, of which only OPT counts. Undefined without OPT (RFC 6891 section 6.1.1). */
function readEdns(message: Buffer, start: number, records: number): FoundEdns | undefined | 'malformed' {
  let found: FoundEdns | undefined;
  let offset = start;
  for (let index = 0; index < records; index += 1) {
    const nameEnd = skipName(message, offset);
    if (nameEnd === undefined || nameEnd + RECORD_FIXED_BYTES > message.length) return 'malformed';
    const dataStart = nameEnd + RECORD_FIXED_BYTES;
    const end = dataStart + message.readUInt16BE(nameEnd + 8);
    if (end > message.length) return 'malformed';
    if (message.readUInt16BE(nameEnd) === TYPES.OPT) {
      // The name of OPT is the root, and there is one at most.
      if (found || nameEnd !== offset + 1) return 'malformed';
      const cookie = readCookie(message.subarray(dataStart, end));
      if (cookie === 'malformed') return 'malformed';
      found = {
        version: message[nameEnd + 5] ?? 0,
        edns: {
          payloadBytes: message.readUInt16BE(nameEnd + 2),
          isDnssecOk: (message.readUInt16BE(nameEnd + 6) & FLAG_DNSSEC_OK) !== 0,
          cookie,
        },
      };
    }
    offset = end;
  }
  return offset === message.length ? found : 'malformed';
}

function skipName(message: Buffer, start: number): number | undefined {
  let offset = start;
  for (;;) {
    const length = message[offset];
    if (length === undefined) return undefined;
    if (length >= MIN_POINTER) return offset + POINTER_BYTES;
    if (length > MAX_LABEL_BYTES) return undefined;
    offset += 1 + length;
    if (length === 0) return offset;
  }
}

/** Returns the first cookie of the options (RFC 7873 section 5.2). */
function readCookie(options: Buffer): Buffer | undefined | 'malformed' {
  let cookie: Buffer | undefined;
  let offset = 0;
  while (offset < options.length) {
    if (offset + OPTION_HEAD_BYTES > options.length) return 'malformed';
    const end = offset + OPTION_HEAD_BYTES + options.readUInt16BE(offset + 2);
    if (end > options.length) return 'malformed';
    if (options.readUInt16BE(offset) === OPTION_COOKIE)
      cookie ??= options.subarray(offset + OPTION_HEAD_BYTES, end);
    offset = end;
  }
  return cookie === undefined || isLegalCookie(cookie.length) ? cookie : 'malformed';
}

function isLegalCookie(length: number): boolean {
  return (
    length === CLIENT_COOKIE_BYTES || (length >= MIN_FULL_COOKIE_BYTES && length <= MAX_FULL_COOKIE_BYTES)
  );
}
