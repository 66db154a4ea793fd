/** Emails with as many attachments, and as large ones, as one may have (specification 8), and the check that they arrived. */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECIPIENT_DOMAIN, SENDER } from './message.ts';

export type LargeEmail = {
  recipient: string;
  /** Holds the JSON of the request. */
  file: string;
  bodyBytes: number;
  /** SHA-256 of each attachment, in order. */
  hashes: string[];
};

const ATTACHMENTS = 10;
const ATTACHMENT_BYTES = (25 * 1024 * 1024) / ATTACHMENTS;

/** Each has bytes of its own, so that no store holds two of them once. */
export function writeLargeEmail(folder: string, name: string): LargeEmail {
  const recipient = `${name}@${RECIPIENT_DOMAIN}`;
  const contents = Array.from({ length: ATTACHMENTS }, () => randomBytes(ATTACHMENT_BYTES));
  const body = JSON.stringify({
    from: SENDER,
    to: recipient,
    subject: 'Your documents',
    text: 'They are attached.',
    type: 'transactional',
    attachments: contents.map((content, index) => ({
      filename: `document-${index}.bin`,
      content: content.toString('base64'),
    })),
  });
  const file = join(folder, `${name}.json`);
  writeFileSync(file, body);
  return { recipient, file, bodyBytes: body.length, hashes: contents.map(hash) };
}

/** SHA-256 of each attachment of a message, in order (RFC 2046 section 5.1.1, RFC 2045 section 6.8). */
export function attachmentHashes(message: Buffer): string[] {
  const text = message.toString('latin1');
  const boundary = /boundary="?([^";\r\n]+)/i.exec(text)?.[1];
  if (boundary === undefined) return [];
  return text
    .split(`--${boundary}`)
    .filter((part) => /^content-disposition: attachment/im.test(part.slice(0, part.indexOf('\r\n\r\n'))))
    .map((part) => hash(Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4), 'base64')));
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
