/**
 * Names of mailboxes on the wire: modified UTF-7 (RFC 3501 section 5.1.3), or UTF-8 once the client has enabled IMAP4rev2
 * or UTF8=ACCEPT (RFC 9051 section 5.1, RFC 6855 section 3).
 */
import type { TextForm } from './strings.ts';

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
