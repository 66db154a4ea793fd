/** The signing part of the bare path: DKIM, relaxed/relaxed, RSA-SHA256, on the thread pool, with a key read once. */
import { createHash, type KeyObject, sign } from 'node:crypto';
import { SENDER_DOMAIN } from './message.ts';

const SIGNED_HEADERS = ['from', 'to', 'subject', 'date', 'message-id', 'mime-version', 'content-type'];

/** `message` has each signed header once, none of them folded. */
export function signMessage(key: KeyObject, message: string, done: (signed: string) => void): void {
  const { field, data } = signingInput(message);
  sign('sha256', data, key, (error, signature) => {
    if (error) throw error;
    done(`DKIM-Signature: ${field}${signature.toString('base64')}\r\n${message}`);
  });
}

/** RFC 6376 sections 3.4.2, 3.7. */
function signingInput(message: string): { field: string; data: Buffer } {
  const headerEnd = message.indexOf('\r\n\r\n');
  const values = new Map<string, string>();
  for (const line of message.slice(0, headerEnd).split('\r\n')) {
    const colon = line.indexOf(':');
    values.set(line.slice(0, colon).toLowerCase(), relaxed(line.slice(colon + 1)).trim());
  }
  const bodyHash = createHash('sha256').update(relaxedBody(message.slice(headerEnd + 4)));
  const names = SIGNED_HEADERS.join(':');
  const field = `v=1; a=rsa-sha256; c=relaxed/relaxed; d=${SENDER_DOMAIN}; s=bench; h=${names}; bh=${bodyHash.digest('base64')}; b=`;
  const lines = SIGNED_HEADERS.map((name) => `${name}:${values.get(name)}\r\n`);
  return { field, data: Buffer.from(`${lines.join('')}dkim-signature:${field}`) };
}

/** RFC 6376 section 3.4.4. */
function relaxedBody(body: string): string {
  return relaxed(body)
    .replaceAll(' \r\n', '\r\n')
    .replace(/(\r\n)+$/, '\r\n');
}

function relaxed(text: string): string {
  return text.replace(/[ \t]+/g, ' ');
}
