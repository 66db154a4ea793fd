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
