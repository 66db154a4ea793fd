/** Messages of the fault. Each is made from its token, so that its bytes need not be kept. */
import { createHash } from 'node:crypto';

/** Sizes of messages, by the last character of the token: stored in the database, nearly as large as those are, and in a file. */
const SIZES_BYTES: Record<string, number> = { s: 600, m: 60 * 1024, l: 100 * 1024 };
const LINE = /.{60}/g;

/** Returns a token that no other message has. */
export function tokenOf(name: string, number: number, size: 's' | 'm' | 'l'): string {
  return `${name}-${number}-${size}`;
}

/** Returns the message of a token. Equal bytes would share one file, so each differs in all its lines. */
export function messageOf(token: string): Buffer {
  const pattern = createHash('sha256').update(token).digest('base64').slice(0, 31);
  const header =
    `From: ann@author.test\r\nTo: x@dest.test\r\nSubject: ${token}\r\nMessage-ID: <${token}@author.test>\r\n` +
    'Date: Thu, 26 Nov 2026 08:00:00 +0000\r\n\r\n';
  const sizeBytes = SIZES_BYTES[token.at(-1) ?? ''] ?? 0;
  const text = pattern.repeat(Math.ceil(sizeBytes / pattern.length)).replace(LINE, '$&\r\n');
  return Buffer.from(`${header}${text}\r\n`);
}

/** Returns the token of a message, or `none`. */
export function tokenIn(bytes: Buffer): string {
  return /^Subject: (\S+)\r$/m.exec(bytes.subarray(0, 4_096).toString('latin1'))?.[1] ?? 'none';
}
