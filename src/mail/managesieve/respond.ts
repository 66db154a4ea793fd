/** Writes responses (RFC 5804 section 4). */

/** Maximum length of a quoted string in octets (RFC 5804 section 4, `quoted`). */
const MAX_QUOTED_OCTETS = 1_024;
/** Matches characters that a quoted string cannot have. */
const UNQUOTABLE = /[\0\r\n]/;

/** Returns a string, quoted where it can be, and as a literal otherwise. */
export function writeString(text: string): string {
  const octets = Buffer.byteLength(text);
  if (octets > MAX_QUOTED_OCTETS || UNQUOTABLE.test(text)) return `{${octets}}\r\n${text}`;
  const quoted = text.replace(/["\\]/g, '\\$&');
  return quoted.length > MAX_QUOTED_OCTETS ? `{${octets}}\r\n${text}` : `"${quoted}"`;
}

/** A response that completes a command. The code stands in parentheses, and may have arguments. */
export type Completion = { code?: string | undefined; text?: string | undefined };

/** Returns a line such as `NO (NONEXISTENT) "There is no such script"`, with its CRLF. */
export function writeCompletion(status: 'OK' | 'NO' | 'BYE', { code, text }: Completion = {}): string {
  return `${[status, ...(code ? [`(${code})`] : []), ...(text ? [writeString(text)] : [])].join(' ')}\r\n`;
}
