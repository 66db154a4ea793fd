/**
 * Writes header fields: folded, ASCII, ended by CRLF. What could end a field early or start another one is refused
 * here once more, whatever was checked before (security.md 2.15).
 */
import { formatMailbox, type Mailbox } from '../address.ts';
import { encodeWords } from './encoded-word.ts';

/** RFC 2047 2 asks for 76 where encoded-words stand; RFC 5322 2.1.1 for at most 78 elsewhere. */
const FOLD_AT_CHARACTERS = 76;
/** RFC 5322 2.1.1, the CRLF not counted. */
export const MAX_LINE_OCTETS = 998;
/** A word without spaces cannot be folded; beyond this length it is encoded, which gives it places to fold. */
const MAX_PLAIN_WORD_CHARACTERS = 900;

/** With the name of a field or a space before it and a semicolon behind it, still a line. */
const MAX_PARAMETER_CHARACTERS = 900;

const FIELD_NAME = /^[!-9;-~]+$/;
const STRUCTURED = /^[\t -~]*$/;
const PRINTABLE_ASCII = /^[ -~]*$/;
/** Text that stands as it is: printable, no white space that a reader would drop, nothing that looks encoded. */
const PLAIN_TEXT = /^(?:[!-~]+(?: +[!-~]+)*)?$/;
const LONG_WORD = new RegExp(`[^ ]{${MAX_PLAIN_WORD_CHARACTERS}}`);
const BREAKS_FIELD = /[\r\n\0]/;

/** RFC 5322 2.2. */
export function isFieldName(name: string): boolean {
  return FIELD_NAME.test(name);
}

/** Whether `text` can be the value of a field: nothing in it ends the line. */
export function isFieldText(text: string): boolean {
  return !BREAKS_FIELD.test(text);
}

/** A field whose value is written by its own grammar (dates, ids, parameters).
 * @throws RangeError when it is not printable ASCII, or a line would be longer than RFC 5322 allows */
export function structuredField(name: string, value: string): string {
  if (!isFieldName(name) || !STRUCTURED.test(value))
    throw new RangeError(`header field ${name} is not clean`);
  return `${fold(`${name}: ${value}`)}\r\n`;
}

/** A field of a value and its parameters, each of these on a line of its own and not broken inside: some readers trip
 * over a quoted string that is folded.
 * @throws RangeError when a part is not printable ASCII, or longer than a line may be */
export function parameterField(name: string, parts: readonly string[]): string {
  const isClean = parts.every((part) => PRINTABLE_ASCII.test(part) && part.length < MAX_PARAMETER_CHARACTERS);
  if (!isFieldName(name) || !isClean) throw new RangeError(`header field ${name} is not clean`);
  return `${name}: ${parts.join(';\r\n ')}\r\n`;
}

/** A field of the caller's own, its value as given, but for white space around it and tabs, which are spaces.
 * @throws RangeError when the name is none, the value is not printable ASCII, or a word in it is too long for a line */
export function customField(name: string, value: string): string {
  return structuredField(name, value.replaceAll('\t', ' ').replace(/^ +| +$/g, ''));
}

/** A field of free text (RFC 5322 2.2.1), in encoded-words where it needs them.
 * @throws RangeError when it holds CR, LF or NUL */
export function textField(name: string, text: string): string {
  if (!isFieldText(text)) throw new RangeError(`header field ${name} holds a line break or NUL`);
  const isPlain = PLAIN_TEXT.test(text) && !text.includes('=?') && !LONG_WORD.test(text);
  return structuredField(name, isPlain ? text : encodeWords(text));
}

/** RFC 5322 3.6.2 and 3.6.3. */
export function addressField(name: string, mailboxes: readonly Mailbox[]): string {
  return structuredField(name, mailboxes.map(formatMailbox).join(', '));
}

/** The `Date` field with its CRLF: put in front of a message when it is sent (decisions.md 25). */
export function dateField(epochMs: number): string {
  return structuredField('Date', formatDate(epochMs));
}

/** RFC 5322 3.3, in UTC: `Fri, 21 Nov 2025 09:05:00 +0000`. */
export function formatDate(epochMs: number): string {
  return new Date(epochMs).toUTCString().replace('GMT', '+0000');
}

/** Breaks at white space, which stays and begins the next line (RFC 5322 2.2.3). Never right behind the field's name. */
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
