/**
 * Reads the header of a message that somebody else wrote. It takes the fields as they stand, in linear time, and within
 * limits: a header beyond them is refused as a whole, because a part of a header could mean something else.
 */
import { parseSentDate } from '../../date.ts';
import { MAX_HEADER_BYTES, MAX_HEADER_LINES } from '../../header-limits.ts';
import { CR, findOctet, LF } from '../../octets.ts';
import { decodeWords } from '../decode-words.ts';
import { readFieldLines, unfoldValue } from '../header-block.ts';

export type HeaderField = {
  /** Name as it stands in the message. */
  name: string;
  /** Value without line breaks, otherwise as it stands (RFC 5322 section 2.2.3). */
  value: string;
  /** Value with its encoded-words decoded (RFC 2047). */
  text: string;
};

/** Reports a header that is larger than any program writes. */
class HeaderTooLargeError extends Error {
  override readonly name = 'HeaderTooLargeError';
}

/**
 * Returns the fields of the header in their order. A line that is neither a field nor a continuation is ignored.
 * @throws HeaderTooLargeError
 */
export function readHeaderFields(message: Uint8Array): HeaderField[] {
  const octets = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const fields: HeaderField[] = [];
  for (const { name, start, value, end } of readFieldLines(octets, {
    start: 0,
    end: findHeaderEnd(octets),
  })) {
    if (name === '') continue;
    const text = unfoldValue(octets.subarray(value, end));
    // The name of a field is in lower case, and its octets are as they stand.
    const written = octets.toString('latin1', start, start + name.length);
    fields.push({ name: written, value: text, text: decodeWords(text) });
  }
  return fields;
}

/** Returns the offset of the first empty line; the length when there is none. */
function findHeaderEnd(octets: Buffer): number {
  let lines = 0;
  for (let start = 0; start < octets.length; lines++) {
    const found = findOctet(octets, LF, start);
    const end = found < 0 ? octets.length : found;
    const hasCr = end > start && octets[end - 1] === CR;
    if (end - (hasCr ? 1 : 0) === start) return start;
    if (end > MAX_HEADER_BYTES || lines >= MAX_HEADER_LINES)
      throw new HeaderTooLargeError('the header is too large');
    start = end + 1;
  }
  return octets.length;
}

/** Returns the value of the first field with this name; undefined when there is none. */
export function findField(fields: readonly HeaderField[], name: string): HeaderField | undefined {
  return fields.find((field) => field.name.toLowerCase() === name);
}

/** Matches a message id with its angle brackets (RFC 5322 section 3.6.4), as leniently as mail in practice needs. */
const MESSAGE_ID = /<[^<>\s]{1,998}>/g;

/** Returns the message ids in the value of a field, with their angle brackets. */
export function readMessageIds(field: HeaderField | undefined): string[] {
  return field?.value.match(MESSAGE_ID) ?? [];
}

/** Returns the date of a field in Unix milliseconds; null when it is not a date (RFC 5322 section 3.3). */
export function readDate(field: HeaderField | undefined): number | null {
  const text = field?.value ?? '';
  const epochMs = parseSentDate(text)?.at ?? Date.parse(text);
  return Number.isNaN(epochMs) ? null : epochMs;
}
