/** Writes replies as they are sent (RFC 5321 section 4.2). */
import type { Reply } from './session.ts';

/** Maximum length of a reply line with its CRLF (RFC 5321 section 4.5.3.1.5). */
const MAX_LINE_OCTETS = 512;
/** Maximum number of lines of one reply. The answer to EHLO has a dozen. */
const MAX_LINES = 50;
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Returns a reply of one line. `status` is its enhanced status code (RFC 3463). */
export function reply(code: number, status: string, text: string): Reply {
  return { code, status, text };
}

/**
 * Returns the lines of a reply with their CRLF. Text that is not printable ASCII is replaced and long lines are cut, so
 * that no text can forge another reply.
 */
export function formatReply({ code, status = defaultStatus(code), text }: Reply): string {
  if (typeof text === 'string') return lineOf(`${code} ${status} `, text);
  const lines = text.slice(0, MAX_LINES);
  return lines
    .map((line, index) => lineOf(`${code}${index + 1 < lines.length ? '-' : ' '}${status} `, line))
    .join('');
}

/**
 * Returns a reply without an enhanced status code: the banner and the answers to HELO and EHLO have none (RFC 2034
 * section 4), nor has a 354, whose class RFC 3463 does not know.
 */
export function formatBareReply(code: number, lines: readonly string[]): string {
  return lines.map((line, index) => lineOf(`${code}${index + 1 < lines.length ? '-' : ' '}`, line)).join('');
}

function defaultStatus(code: number): string {
  return `${Math.floor(code / 100)}.0.0`;
}

function lineOf(prefix: string, text: string): string {
  const clean = PRINTABLE_ASCII.test(text) ? text : text.replace(/[^ -~]+/g, '?');
  return `${(prefix + clean).slice(0, MAX_LINE_OCTETS - 2)}\r\n`;
}
