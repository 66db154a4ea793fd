/**
 * Reads the header of a message that somebody else wrote. It takes the fields as they stand, in linear time, and within
 * limits: a header beyond them is refused as a whole, because a part of a header could mean something else.
 */
import { MAX_HEADER_BYTES, MAX_HEADER_LINES } from '../../header-limits.ts';
import { decodeWords } from '../decode-words.ts';

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

/** Matches the name of a field and the colon. White space before the colon is obsolete (RFC 5322 section 4.5). */
const FIELD_START = /^([!-9;-~]+)[ \t]*:/;
const LF = 0x0a;

/**
 * Returns the fields of the header in their order. A line that is neither a field nor a continuation is ignored.
 * @throws HeaderTooLargeError
 */
export function readHeaderFields(message: Uint8Array): HeaderField[] {
  const fields: { name: string; value: string }[] = [];
  let last: { name: string; value: string } | undefined;
  for (const line of readLines(message)) {
    if (line.startsWith(' ') || line.startsWith('\t')) {
      if (last) last.value += line;
      continue;
    }
    const [start, name] = FIELD_START.exec(line) ?? [];
    last = start === undefined || name === undefined ? undefined : { name, value: line.slice(start.length) };
    if (last) fields.push(last);
  }
  return fields.map(({ name, value }) => {
    const trimmed = value.trim();
    return { name, value: trimmed, text: decodeWords(trimmed) };
  });
}

/** Returns the lines up to the first empty one. They are UTF-8 (RFC 6532 section 3.2). */
function readLines(message: Uint8Array): string[] {
  const lines: string[] = [];
  let start = 0;
  while (start < message.length) {
    const found = message.indexOf(LF, start);
    const end = found < 0 ? message.length : found;
    const hasCr = end > start && message[end - 1] === 0x0d;
    if (end - (hasCr ? 1 : 0) === start) return lines;
    if (end > MAX_HEADER_BYTES || lines.length >= MAX_HEADER_LINES)
      throw new HeaderTooLargeError('the header is too large');
    lines.push(
      Buffer.from(message.buffer, message.byteOffset + start, end - start)
        .toString()
        .replace(/\r$/, ''),
    );
    start = end + 1;
  }
  return lines;
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
  const epochMs = Date.parse(field?.value ?? '');
  return Number.isNaN(epochMs) ? null : epochMs;
}
