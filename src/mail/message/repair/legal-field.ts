/**
 * Writes a header field in lines that are not too long, with encoded text where its grammar allows it. It is folded (RFC 5322 section 2.2.3)
 * before white space in free text; in a structured value between tokens, and only when that is not enough at the white space in quoted
 * strings and comments, which some programs read wrongly. A line has at most 998 octets (RFC 5322 section 2.1.1).
 */
import { CR, findOctet, LF } from '../../octets.ts';
import { MAX_LINE_OCTETS } from '../headers.ts';
import { tokensOf } from '../tokens.ts';

/**
 * Returns a field in lines of at most 998 octets where its grammar allows it, without its last CRLF. `value` is unfolded. Text that is not ASCII
 * stays where `encode` leaves it, and everywhere without `needsEncoding`.
 */
export function legalField(
  name: string,
  value: string,
  { encode, needsEncoding }: { encode: (kind: FieldKind, value: string) => string; needsEncoding: boolean },
): string {
  const kind = fieldKind(name);
  const folded = foldField(kind, name, needsEncoding ? encode(kind, value) : value);
  // Encoded-words can be folded where a long word of free text cannot, and the name of a file can be cut.
  const isRest = !needsEncoding && kind !== 'addresses' && hasLongLine(Buffer.from(folded));
  return isRest ? foldField(kind, name, encode(kind, value)) : folded;
}

/** Length at which lines are folded (RFC 5322 section 2.1.1, RFC 2047 section 2). */
const FOLD_AT_OCTETS = 76;
/**
 * Number of lines that a very long field is folded into, approximately. Its lines may have up to 900 octets, so that the header stays within the
 * limit of its lines.
 */
const MAX_FOLDED_LINES = 400;
const MAX_FOLD_AT_OCTETS = 900;

/** Returns the field in lines, without its last CRLF. A piece that nothing can fold stays as long as it is. */
function foldField(kind: FieldKind, name: string, value: string): string {
  const octets = Buffer.byteLength(value);
  const limit = Math.min(MAX_FOLD_AT_OCTETS, Math.max(FOLD_AT_OCTETS, Math.ceil(octets / MAX_FOLDED_LINES)));
  const pieces = kind === 'text' ? wordsOf(value) : structuredPieces(value);
  let folded = `${name}:`;
  let used = folded.length;
  let isFirst = true;
  for (const piece of pieces) {
    const length = Buffer.byteLength(piece);
    // A line must not be empty but for white space, so the first piece stays on the line of the name when it fits.
    const breaks = isFirst ? used + length > MAX_LINE_OCTETS : used + length > limit;
    const space = (breaks || isFirst) && !/^[ \t]/.test(piece) ? ' ' : '';
    folded += `${breaks ? '\r\n' : ''}${space}${piece}`;
    used = (breaks ? 0 : used) + space.length + length;
    isFirst = false;
  }
  return folded;
}

/** Returns words with the white space before each; white space behind the last one is dropped. */
function wordsOf(value: string): string[] {
  return value.trimEnd().match(/[ \t]*[^ \t]+/g) ?? [];
}

/** Returns the pieces of a structured value that stay whole when possible. */
function structuredPieces(value: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  let mayBreak = false;
  const end = () => {
    if (piece !== '')
      pieces.push(...(Buffer.byteLength(piece) > MAX_FOLD_AT_OCTETS ? wordsOf(piece) : [piece]));
    piece = '';
  };
  let last = '';
  for (const { kind, text } of tokensOf(value.trimEnd())) {
    // White space may stand behind a comma and a semicolon, and between two message ids.
    const isBetweenIds = kind === 'angle' && last === 'angle';
    if (kind === 'space' ? last !== 'space' : mayBreak || isBetweenIds) end();
    piece += text;
    mayBreak = kind === 'mark' && text !== ':';
    last = kind;
  }
  end();
  return pieces;
}

/** Returns true when a line has more than 998 octets without its line end, which is CRLF or LF. */
export function hasLongLine(octets: Buffer): boolean {
  if (octets.length <= MAX_LINE_OCTETS) return false;
  for (let start = 0; start < octets.length; ) {
    const found = findOctet(octets, LF, start);
    const lineEnd = found < 0 ? octets.length : found;
    const end = octets[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (end - start > MAX_LINE_OCTETS) return true;
    start = lineEnd + 1;
  }
  return false;
}

/** Says which grammar the value of a header field has, because text is encoded and folded at other places in each. */

/**
 * `text` is free text (RFC 5322 section 2.2.1), which every unknown field counts as. `addresses` have display names and comments (section
 * 3.4). `parameters` have values that RFC 2231 can encode. `structured` is any other grammar, which has no place for other text than ASCII.
 */
export type FieldKind = 'text' | 'addresses' | 'parameters' | 'structured';

/** Fields of addresses, and fields whose values have the same words: a phrase before a text in angle brackets, and comments. */
const ADDRESSES: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc'],
  ...['resent-from', 'resent-sender', 'resent-reply-to', 'resent-to', 'resent-cc', 'resent-bcc'],
  // Receipts (RFC 8098 section 2.1) and mailing lists, whose id has a phrase before it (RFC 2919 section 3), have the same grammar.
  ...['disposition-notification-to', 'return-receipt-to', 'errors-to', 'mail-followup-to', 'mail-reply-to'],
  'list-id',
]);
const PARAMETERS: ReadonlySet<string> = new Set(['content-type', 'content-disposition']);
const STRUCTURED: ReadonlySet<string> = new Set([
  ...['date', 'resent-date', 'message-id', 'resent-message-id', 'in-reply-to', 'references', 'content-id'],
  ...['received', 'return-path', 'received-spf', 'authentication-results', 'dkim-signature', 'autocrypt'],
  ...['mime-version', 'content-transfer-encoding', 'content-location', 'content-base', 'content-language'],
  ...[
    'content-md5',
    'content-features',
    'content-class',
    'auto-submitted',
    'precedence',
    'importance',
    'priority',
  ],
  ...['feedback-id', 'original-message-id', 'require-recipient-valid-since', 'tls-required', 'bimi-selector'],
]);
/** Beginnings of the names of structured fields: RFC 2369, RFC 8617 and RFC 9477. */
const STRUCTURED_FAMILIES = ['list-', 'arc-', 'cfbl-'] as const;

/** Returns the grammar of a field by its name, in any case. */
function fieldKind(name: string): FieldKind {
  const key = name.toLowerCase();
  if (ADDRESSES.has(key)) return 'addresses';
  if (PARAMETERS.has(key)) return 'parameters';
  return STRUCTURED.has(key) || STRUCTURED_FAMILIES.some((family) => key.startsWith(family))
    ? 'structured'
    : 'text';
}
