/**
 * Marks mail that this installation forwards, so that it is known when it comes back. Anybody can write Delivered-To into a message
 * (RFC 9228 section 4), and would keep it from being forwarded, so the mark carries a hash that only this installation can make.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { App } from '../../app.ts';
import { addressKey } from '../../mail/address.ts';
import { FORWARD_MARK } from '../../mail/trace-fields.ts';

type MarkApp = Pick<App, 'sealer'>;

const KEY_BYTES = 32;
/** Number of characters of each of the two parts, which have 6 bits each: nobody can try so many. */
const PART_CHARACTERS = 22;

/** The addresses here that have forwarded a message before. */
type PassedAddresses = {
  count: number;
  has(address: string): boolean;
};

/** Returns the field, with its CRLF, of a message that is forwarded from this address. */
export function forwardMark(app: MarkApp, address: string): string {
  const key = keyOf(app);
  const name = hash(key, `address ${addressKey(address)}`);
  return `${FORWARD_MARK}: ${name}.${hash(key, `mark ${name}`)}\r\n`;
}

/** Reads the values of the marks of a message. Those that this installation has not made count for nothing. */
export function readForwardMarks(app: MarkApp, values: readonly string[]): PassedAddresses {
  const key = keyOf(app);
  const names = new Set<string>();
  for (const value of values) {
    const [name = '', proof = ''] = value.trim().split('.');
    if (isEqual(hash(key, `mark ${name}`), proof)) names.add(name);
  }
  return { count: names.size, has: (address) => names.has(hash(key, `address ${addressKey(address)}`)) };
}

function keyOf({ sealer }: MarkApp): Buffer {
  return Buffer.from(hkdfSync('sha256', sealer.key.export(), '', 'inbound: forwarded mail', KEY_BYTES));
}

function hash(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, PART_CHARACTERS);
}

function isEqual(expected: string, given: string): boolean {
  const [first, second] = [Buffer.from(expected), Buffer.from(given)];
  return first.length === second.length && timingSafeEqual(first, second);
}
