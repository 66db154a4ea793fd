/**
 * Marks mail that this installation forwards, so that it is known when it comes back. Anybody can write Delivered-To into a message
 * (RFC 9228 section 4), and would keep it from being forwarded, so the mark carries a hash that only this installation can make. Whoever has
 * received a forwarded message could still copy its mark into others, so a mark is valid for some weeks alone. It does not name its message: the
 * scripts of mailboxes that send mail round may change each field by which the message could be known.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { App } from '../../app.ts';
import { addressKey } from '../../mail/address.ts';
import { FORWARD_MARK } from '../../mail/trace-fields.ts';
import { DAY_MS } from '../../system/clock.ts';

const KEY_BYTES = 32;
/** Number of characters of each of the two hashes, which have 6 bits each: nobody can try so many. */
const PART_CHARACTERS = 22;
/**
 * Maximum age of a mark in days. A message that goes round is tried for up to 5 days at each server (RFC 5321 section 4.5.4.1), and gets
 * another mark each time it comes past.
 */
const MAX_AGE_DAYS = 21;
const DAY_RADIX = 36;

/** The addresses here that have forwarded a message before. */
type PassedAddresses = {
  count: number;
  has(address: string): boolean;
};

/** Returns the field, with its CRLF, of a message that is forwarded from this address. */
export function forwardMark(app: App, address: string): string {
  const key = keyOf(app);
  const name = hash(key, `address ${addressKey(address)}`);
  const day = dayOf(app).toString(DAY_RADIX);
  return `${FORWARD_MARK}: ${name}.${day}.${hash(key, `mark ${name} ${day}`)}\r\n`;
}

/** Reads the values of the marks of a message. Those that this installation has not made, or long ago, count for nothing. */
export function readForwardMarks(app: App, values: readonly string[]): PassedAddresses {
  const key = keyOf(app);
  const names = new Set<string>();
  for (const value of values) {
    const [name = '', day = '', proof = ''] = value.trim().split('.');
    const age = dayOf(app) - Number.parseInt(day, DAY_RADIX);
    if (isEqual(hash(key, `mark ${name} ${day}`), proof) && age <= MAX_AGE_DAYS) names.add(name);
  }
  return { count: names.size, has: (address) => names.has(hash(key, `address ${addressKey(address)}`)) };
}

function dayOf({ clock }: App): number {
  return Math.floor(clock.now() / DAY_MS);
}

function keyOf({ sealer }: App): Buffer {
  return Buffer.from(hkdfSync('sha256', sealer.key.export(), '', 'inbound: forwarded mail', KEY_BYTES));
}

function hash(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, PART_CHARACTERS);
}

function isEqual(expected: string, given: string): boolean {
  const [first, second] = [Buffer.from(expected), Buffer.from(given)];
  return first.length === second.length && timingSafeEqual(first, second);
}
