/**
 * Writes header fields in folded ASCII, terminated by CRLF; only addresses may be in UTF-8 (RFC 6532 section 3.2). Every function here
 * refuses text that could end a field early or start another one, even if the caller has checked it before.
 */
import { formatMailbox, type Mailbox } from '../address.ts';
import { encodeWords } from '../encoded-word.ts';

/**
 * Length at which lines are folded. RFC 2047 section 2 asks for 76 characters in lines with encoded-words, RFC 5322
 * section 2.1.1 for at most 78 in others.
 */
const FOLD_AT_CHARACTERS = 76;
/** Maximum length of a line without its CRLF (RFC 5322 section 2.1.1). */
export const MAX_LINE_OCTETS = 998;
/**
 * Maximum length of a word that is written unchanged. A word cannot be folded; a longer one is encoded, and the
 * encoded-words can.
 */
const MAX_PLAIN_WORD_CHARACTERS = 900;

/**
 * Maximum length of a parameter. With the name of a field or a space before it and a semicolon after it, it still
 * fits on one line.
 */
const MAX_PARAMETER_CHARACTERS = 900;

const FIELD_NAME = /^[!-9;-~]+$/;
const STRUCTURED = /^[\t -~]*$/;
const PRINTABLE_ASCII = /^[ -~]*$/;
/** Matches text without control characters, and without halves of surrogate pairs. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u;
/** Matches text that needs no encoding: printable, without white space that a reader would drop. */
const PLAIN_TEXT = /^(?:[!-~]+(?: +[!-~]+)*)?$/;
const LONG_WORD = new RegExp(`[^ ]{${MAX_PLAIN_WORD_CHARACTERS}}`);
const BREAKS_FIELD = /[\r\n\0]/;

/** Returns true for the name of a field (RFC 5322 section 2.2). */
export function isFieldName(name: string): boolean {
  return FIELD_NAME.test(name);
}

/** Returns true when `text` can be the value of a field, because nothing in it ends the line. */
export function isFieldText(text: string): boolean {
  return !BREAKS_FIELD.test(text);
}

/**
 * Returns a field whose value has its own grammar, such as dates, ids and parameters.
 * @throws RangeError when the value is not printable ASCII, or a line would be longer than RFC 5322 allows
 */
export function structuredField(name: string, value: string): string {
  if (!isFieldName(name) || !STRUCTURED.test(value))
    throw new RangeError(`header field ${name} is not clean`);
  return `${fold(`${name}: ${value}`)}\r\n`;
}

/**
 * Returns a field of a notification in UTF-8 (dsn/write.ts), whose value has its own grammar.
 * @throws RangeError when the value is not printable, or a line would be longer than RFC 5322 allows
 */
export function utf8Field(name: string, value: string): string {
  if (!isFieldName(name) || !PRINTABLE.test(value)) throw new RangeError(`header field ${name} is not clean`);
  return `${fold(`${name}: ${value}`)}\r\n`;
}

/**
 * Returns a field with a value and parameters. Each parameter has its own line and is never broken, because some
 * readers cannot parse a folded quoted string.
 * @throws RangeError when a part is not printable ASCII, or is too long for a line
 */
export function parameterField(name: string, parts: readonly string[]): string {
  const isClean = parts.every((part) => PRINTABLE_ASCII.test(part) && part.length < MAX_PARAMETER_CHARACTERS);
  if (!isFieldName(name) || !isClean) throw new RangeError(`header field ${name} is not clean`);
  return `${name}: ${parts.join(';\r\n ')}\r\n`;
}

/**
 * Returns a field of free text (RFC 5322 section 2.2.1), as encoded-words when it needs them.
 * @throws RangeError when the text contains CR, LF or NUL
 */
export function textField(name: string, text: string): string {
  if (!isFieldText(text)) throw new RangeError(`header field ${name} holds a line break or NUL`);
  const isPlain = PLAIN_TEXT.test(text) && !text.includes('=?') && !LONG_WORD.test(text);
  return structuredField(name, isPlain ? text : encodeWords(text));
}

/**
 * Returns a field of free text that may hold encoded-words already. Text of ASCII alone stays as it is.
 * @throws RangeError when the text contains CR, LF or NUL
 */
export function partlyEncodedField(name: string, text: string): string {
  const isPlain = PLAIN_TEXT.test(text) && !LONG_WORD.test(text);
  return isPlain ? structuredField(name, text) : textField(name, text);
}

/**
 * Returns a field of addresses (RFC 5322 sections 3.6.2 and 3.6.3), which is in UTF-8 when one of them is.
 * @throws RangeError when the value is not printable, or a line would be too long
 */
export function addressField(name: string, mailboxes: readonly Mailbox[]): string {
  const value = mailboxes.map(formatMailbox).join(', ');
  if (!isFieldName(name) || !PRINTABLE.test(value)) throw new RangeError(`header field ${name} is not clean`);
  return `${fold(`${name}: ${value}`)}\r\n`;
}

/** Returns the `Date` field with its CRLF. It is placed before a message when it is sent. */
export function dateField(epochMs: number): string {
  return structuredField('Date', formatDate(epochMs));
}

/** Returns a date of RFC 5322 section 3.3 in UTC, such as `Fri, 21 Nov 2025 09:05:00 +0000`. */
export function formatDate(epochMs: number): string {
  return new Date(epochMs).toUTCString().replace('GMT', '+0000');
}

/**
 * Folds a line at white space, which begins the next line (RFC 5322 section 2.2.3). It never folds directly after the
 * field's name.
 */
function fold(line: string): string {
  if (line.length <= FOLD_AT_CHARACTERS) return line;
  const [first = '', ...words] = line.split(/(?=(?<! ) )/);
  let folded = first;
  let used = first.length;
  let mayBreak = false;
  for (const word of words) {
    const breaks = mayBreak && used + word.length > FOLD_AT_CHARACTERS;
    folded += breaks ? `\r\n${word}` : word;
    used = breaks ? word.length : used + word.length;
    mayBreak = true;
    if (used > MAX_LINE_OCTETS) throw new RangeError(`a line of header field ${first} is too long`);
  }
  return folded;
}
