/** Writes responses: the header, the question of the query, the records, and OPT when the query had it. */
import {
  CODES,
  FLAG_DNSSEC_OK,
  FLAGS,
  HEADER_BYTES,
  OPTION_COOKIE,
  type ResponseCode,
  TYPES,
} from './codes.ts';
import type { Head } from './query.ts';
import type { RecordSet } from './record-set.ts';

export type Content = {
  code: ResponseCode;
  /** True when the zone answers for the name. */
  isAuthoritative?: boolean;
  /** True when the client has to ask again over TCP. */
  isTruncated?: boolean;
  /** The first set belongs to the name of the question, the others to names of their own. */
  answers?: readonly RecordSet[];
  authorities?: readonly RecordSet[];
  additionals?: readonly RecordSet[];
};

type Frame = {
  /** Maximum size of the response. A larger one is cut, and the client asks again over TCP. */
  maxBytes: number;
  /** Cookie of client and server; undefined when the query has none. */
  cookie: Buffer | undefined;
};

/**
 * Largest response over UDP. This size passes everywhere without fragments, which can be forged and lost (the value that resolver makers
 * agreed on for DNS Flag Day 2020).
 */
export const UDP_PAYLOAD_BYTES = 1_232;
/** Size of OPT without options: root name, type, class, TTL and RDLENGTH (RFC 6891 section 6.1.2). */
const OPT_BYTES = 11;
const OPTION_HEAD_BYTES = 4;
/** Bits of a code that the header holds. OPT holds those above. */
const HEADER_CODE_BITS = 4;
const HEADER_CODE_MASK = 0x000f;

/** Writes a response. What does not fit is left out: first additional records, and then everything but the question. */
export function writeResponse(head: Head, content: Content, { maxBytes, cookie }: Frame): Buffer {
  const { edns, questionEnd } = head;
  const cookieBytes = cookie ? OPTION_HEAD_BYTES + cookie.length : 0;
  const fixedBytes = questionEnd + (edns ? OPT_BYTES + cookieBytes : 0);
  const { answers = [], authorities = [], additionals = [] } = content;
  const neededBytes = fixedBytes + sizeOfAnswers(answers) + sizeOf(authorities);
  const isTooLong = neededBytes > maxBytes;
  const shown = isTooLong ? { answers: [], authorities: [] } : { answers, authorities };
  const extra = !isTooLong && neededBytes + sizeOf(additionals) <= maxBytes ? additionals : [];
  const response = Buffer.allocUnsafe(isTooLong ? fixedBytes : neededBytes + sizeOf(extra));
  head.message.copy(response, 0, 0, questionEnd);
  const flags =
    FLAGS.response |
    (head.message.readUInt16BE(2) & (FLAGS.opcode | FLAGS.recursionDesired)) |
    (content.isAuthoritative ? FLAGS.authoritative : 0) |
    (isTooLong || content.isTruncated ? FLAGS.truncated : 0) |
    (content.code & HEADER_CODE_MASK);
  response.writeUInt16BE(flags, 2);
  response.writeUInt16BE(questionEnd > HEADER_BYTES ? 1 : 0, 4);
  response.writeUInt16BE(count(shown.answers), 6);
  response.writeUInt16BE(count(shown.authorities), 8);
  response.writeUInt16BE(count(extra) + (edns ? 1 : 0), 10);
  let offset = questionEnd;
  shown.answers.forEach(({ asked, full }, index) => {
    offset += (index === 0 ? asked : full).copy(response, offset);
  });
  for (const { full } of [...shown.authorities, ...extra]) offset += full.copy(response, offset);
  if (edns) writeOpt(response, offset, { code: content.code, isDnssecOk: edns.isDnssecOk, cookie });
  return response;
}

type Opt = { code: number; isDnssecOk: boolean; cookie: Buffer | undefined };

function writeOpt(response: Buffer, start: number, { code, isDnssecOk, cookie }: Opt): void {
  response.fill(0, start, start + OPT_BYTES);
  response.writeUInt16BE(TYPES.OPT, start + 1);
  response.writeUInt16BE(UDP_PAYLOAD_BYTES, start + 3);
  response.writeUInt8(code >> HEADER_CODE_BITS, start + 5);
  response.writeUInt16BE(isDnssecOk ? FLAG_DNSSEC_OK : 0, start + 7);
  if (!cookie) return;
  response.writeUInt16BE(OPTION_HEAD_BYTES + cookie.length, start + 9);
  response.writeUInt16BE(OPTION_COOKIE, start + OPT_BYTES);
  response.writeUInt16BE(cookie.length, start + OPT_BYTES + 2);
  cookie.copy(response, start + OPT_BYTES + OPTION_HEAD_BYTES);
}

function count(sets: readonly RecordSet[]): number {
  let sum = 0;
  for (const set of sets) sum += set.count;
  return sum;
}

function sizeOf(sets: readonly RecordSet[]): number {
  let sum = 0;
  for (const { full } of sets) sum += full.length;
  return sum;
}

function sizeOfAnswers([first, ...others]: readonly RecordSet[]): number {
  return (first ? first.asked.length : 0) + sizeOf(others);
}

/** A response without records. */
export const EMPTY: Content = { code: CODES.noError };
