/** Writes a header field that the caller of the API set: in ASCII, in short lines, and with nothing that ends it early. */
import { isFieldName, structuredField } from '../headers.ts';
import { encodeWordsOf, isAsciiText } from './encode-text.ts';
import { hasLongLine, legalField } from './legal-field.ts';

/**
 * Length of a word, with the spaces before it, up to which every field is written in the same way. With the longest name, such a word fits on one
 * line.
 */
const MAX_PLAIN_WORD_CHARACTERS = 870;
/** Matches text without control characters, and without halves of surrogate pairs. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u;

/**
 * Returns a field with its CRLF. White space around the value is removed, and tabs become spaces.
 * @throws RangeError when the name is not valid, or the value cannot be written
 */
export function customField(name: string, value: string): string {
  const written = isFieldName(name) ? writeField(name, value) : { problem: 'must have a valid name' };
  if ('problem' in written) throw new RangeError(`header field ${name} ${written.problem}`);
  return written.field;
}

/** Returns the end of the sentence "the value must …" for a value that cannot be written; undefined for any other. */
export function findFieldProblem(name: string, value: string): string | undefined {
  const written = writeField(name, value);
  return 'problem' in written ? written.problem : undefined;
}

function writeField(name: string, value: string): { field: string } | { problem: string } {
  const spaced = value.replaceAll('\t', ' ');
  if (!PRINTABLE.test(spaced)) return { problem: 'must be printable text on one line' };
  const text = spaced.trim();
  const isAscii = isAsciiText(text);
  if (isAscii && !hasLongWord(text)) return { field: structuredField(name, text) };
  const field = `${legalField(name, ` ${text}`, { encode: encodeWordsOf, needsEncoding: !isAscii })}\r\n`;
  if (!isAsciiText(field))
    return { problem: 'must be ASCII, because this field has no place for encoded text' };
  if (hasLongLine(Buffer.from(field)))
    return { problem: 'must have white space, a comma or a semicolon at least every 900 characters' };
  return { field };
}

function hasLongWord(text: string): boolean {
  return text.split(/(?=(?<! ) )/).some((word) => word.length > MAX_PLAIN_WORD_CHARACTERS);
}
