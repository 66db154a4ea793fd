/**
 * Writes the strings of IMAP responses (RFC 9051 section 4.3). An empty string is always `""`: iOS 18.2 to 26 wait 90 seconds after
 * the literal `{0}`.
 */

/**
 * The form of text in responses. `7bit` is for every client; `utf8` is for clients that have enabled UTF8=ACCEPT or
 * IMAP4rev2, which read UTF-8 in quoted strings (RFC 6855 section 3, RFC 9051 section 9, `QUOTED-CHAR`).
 */
export type TextForm = '7bit' | 'utf8';

/** Returns the form for a client with or without this feature (`Features` of session.ts). */
export function textFormOf({ utf8 }: { utf8: boolean }): TextForm {
  return utf8 ? 'utf8' : '7bit';
}

const EMPTY = '""';
const QUOTABLE: Readonly<Record<TextForm, RegExp>> = {
  '7bit': /^[^\0\r\n\x80-\uffff]*$/,
  utf8: /^[^\0\r\n]*$/,
};

/** Matches text that stands between quotes as it is in both forms, as most text does. */
const PLAIN = /^[^\0\r\n"\\\x80-\uffff]*$/;

/**
 * Returns the wire form of a text: quoted when the form allows its characters, else as a literal. The result is text
 * whose UTF-8 octets are sent. NUL is left out, since no string can hold it (RFC 9051 section 9, `CHAR8`).
 */
export function writeString(text: string, form: TextForm): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const sent = text.replaceAll('\0', '').toWellFormed();
  if (QUOTABLE[form].test(sent)) return `"${sent.replace(/["\\]/g, '\\$&')}"`;
  return `{${Buffer.byteLength(sent)}}\r\n${sent}`;
}

/** Returns the wire form of a text that may be missing (RFC 9051 section 9, `nstring`). */
export function writeNstring(text: string | null, form: TextForm): string {
  return text === null ? 'NIL' : writeString(text, form);
}

/**
 * Returns the wire form of octets: `""` or a literal, which is binary (`~{n}`, RFC 9051 section 4.3) when `isBinary` says so. The octets
 * are those of the caller and are not copied; they are the last item of the result.
 */
export function writeOctets(octets: Buffer, { isBinary = false } = {}): Buffer[] {
  if (octets.length === 0) return [Buffer.from(EMPTY)];
  return [Buffer.from(`${isBinary ? '~' : ''}{${octets.length}}\r\n`), octets];
}

/** Writes strings that may stand without quotes (RFC 9051 section 9, `astring`). */

/** Characters that never need quotes. NIL is quoted, since some clients read it as the absence of a string. */
const ATOM = /^(?!nil$)[\w$&'+,./:;=?@-]+$/i;

/** Returns the text itself where it is an atom of common characters, else as a string. */
export function writeAstring(text: string, form: TextForm): string {
  return ATOM.test(text) ? text : writeString(text, form);
}

/**
 * Names of mailboxes on the wire: modified UTF-7 (RFC 3501 section 5.1.3), or UTF-8 once the client has enabled IMAP4rev2
 * or UTF8=ACCEPT (RFC 9051 section 5.1, RFC 6855 section 3).
 */
const ENCODED = /&([^&-]*)-|&|[^&]+/gs;
const MODIFIED_BASE64 = /^[A-Za-z0-9+,]+$/;
const PRINTABLE = /^[ -~]*$/;
const INBOX_PREFIX = /^inbox(?=\/|$)/i;

/**
 * Returns the name as text, with INBOX in upper case and without a separator at its end, which Thunderbird sends. In
 * UTF-8 a `&` is a character like any other. Returns undefined when the name is malformed.
 */
export function decodeMailboxName(name: string, form: TextForm): string | undefined {
  const text = form === 'utf8' ? name : decodeUtf7(name);
  if (text === undefined || /\p{Cc}|\p{Zl}|\p{Zp}/u.test(text)) return undefined;
  return text.replace(/(?<!\/)\/+$/, '').replace(INBOX_PREFIX, 'INBOX');
}

/** Returns a pattern of LIST as text. One that is malformed stays as it is, and matches nothing. */
export function decodePattern(pattern: string, form: TextForm): string {
  const text = form === 'utf8' ? pattern : (decodeUtf7(pattern) ?? pattern);
  return text.replace(INBOX_PREFIX, 'INBOX');
}

/** Returns the octets of a name, which still need quotes. */
export function encodeMailboxName(name: string, form: TextForm): string {
  return form === 'utf8' ? name : name.replace(/&|[^ -~]+/g, (run) => (run === '&' ? '&-' : encodeRun(run)));
}

function decodeUtf7(name: string): string | undefined {
  if (!PRINTABLE.test(name)) return undefined;
  const pieces: string[] = [];
  let isAfterRun = false;
  for (const [piece, run] of name.matchAll(ENCODED)) {
    const text = run === undefined ? piece : run === '' ? '&' : decodeRun(run);
    // Two runs side by side are one run in disguise (RFC 3501 section 5.1.3).
    const isRun = run !== undefined && run !== '';
    if (text === undefined || piece === '&' || (isRun && isAfterRun)) return undefined;
    isAfterRun = isRun;
    pieces.push(text);
  }
  return pieces.join('');
}

/** Returns the text of a run of modified base64; undefined unless it is what `encodeRun` makes of that text. */
function decodeRun(run: string): string | undefined {
  if (!MODIFIED_BASE64.test(run)) return undefined;
  const bytes = Buffer.from(run.replaceAll(',', '/'), 'base64');
  if (bytes.length % 2 !== 0) return undefined;
  const text = bytes.swap16().toString('utf16le');
  const isCanonical = text.isWellFormed() && !/[ -~]/.test(text) && encodeRun(text) === `&${run}-`;
  return isCanonical ? text : undefined;
}

function encodeRun(text: string): string {
  const base64 = Buffer.from(text, 'utf16le').swap16().toString('base64');
  return `&${base64.replace(/=+$/, '').replaceAll('/', ',')}-`;
}
