/**
 * Ids: a prefix of the feature that makes them, 48 bits of milliseconds and 80 random bits, as 26 characters of Crockford's base32 in lower case. As
 * text they sort by time, so an id is also a cursor, and an index on it stays compact. The random part makes an id
 * unguessable (at least 74 bits).
 */
import { randomFillSync } from 'node:crypto';
import { BASE32_DIGITS, bytesToBase32, toBase32 } from './base32.ts';
import { DAY_MS } from './clock.ts';

export type Id<P extends string> = `${P}_${string}`;

const TIME_CHARACTERS = 10;
const RANDOM_BYTES = 10;
const RANDOM_CHARACTERS = 16;
const POOL_BYTES = RANDOM_BYTES * 256;

const pool = Buffer.allocUnsafe(POOL_BYTES);
let poolUsed = POOL_BYTES;

/** Returns a new id for the time `nowMs`, in epoch milliseconds. */
export function newId<P extends string>(prefix: P, nowMs: number): Id<P> {
  return `${prefix}_${toBase32(nowMs, TIME_CHARACTERS)}${randomText()}`;
}

/**
 * Returns the smallest id of this millisecond: ids made earlier sort below it, ids made in this millisecond or later
 * do not. A range of time is therefore a range of ids.
 */
export function firstIdAt<P extends string>(prefix: P, epochMs: number): Id<P> {
  return `${prefix}_${toBase32(Math.max(epochMs, 0), TIME_CHARACTERS)}${BASE32_DIGITS.charAt(0).repeat(RANDOM_CHARACTERS)}`;
}

/** Number of bytes of the time in the binary form of an id. */
const TIME_BYTES = 6;

/** Returns the time for which an id was made, in epoch milliseconds. */
export function timeOfId(id: Id<string>): number {
  return idToBytes(id).readUIntBE(0, TIME_BYTES);
}

/** Returns the first id that is kept when rows are deleted at the age of `days`: rows of exactly that age are deleted. */
export function firstKeptId<P extends string>(prefix: P, nowMs: number, days: number): Id<P> {
  return firstIdAt(prefix, nowMs - days * DAY_MS + 1);
}

/** Returns true when `value` has the shape of an id with this prefix. The resource need not exist. */
export function isId<P extends string>(prefix: P, value: string): value is Id<P> {
  return (
    value.length === prefix.length + 27 &&
    value.startsWith(`${prefix}_`) &&
    ID_BODY.test(value.slice(prefix.length + 1))
  );
}

const ID_BODY = /^[0-9a-hjkmnp-tv-z]{26}$/;

/** Length of an id without its prefix in its binary form. */
export const ID_BYTES = 16;
/** Length of an id without its prefix. */
export const ID_CHARACTERS = TIME_CHARACTERS + RANDOM_CHARACTERS;

/**
 * Returns the binary form of an id, without its prefix.
 * @throws RangeError when the id does not fit into 128 bits, which no id of `newId` does
 */
export function idToBytes(id: string): Buffer {
  let value = 0n;
  for (const character of id.slice(-ID_CHARACTERS)) {
    const digit = BASE32_DIGITS.indexOf(character);
    if (digit < 0) throw new RangeError('the value is not an id');
    value = value * 32n + BigInt(digit);
  }
  const hex = value.toString(16).padStart(2 * ID_BYTES, '0');
  if (hex.length > 2 * ID_BYTES) throw new RangeError('the id is too large');
  return Buffer.from(hex, 'hex');
}

/** Returns the id that `idToBytes` made the bytes from. */
export function bytesToId<P extends string>(prefix: P, bytes: Buffer): Id<P> {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let index = 0; index < ID_CHARACTERS; index++) {
    text = BASE32_DIGITS.charAt(Number(value % 32n)) + text;
    value /= 32n;
  }
  return `${prefix}_${text}`;
}

/** Returns 80 random bits as 16 characters. They come from a pool: one call to the generator provides 256 ids. */
export function randomText(): string {
  if (poolUsed === POOL_BYTES) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  const text = bytesToBase32(pool.subarray(poolUsed, poolUsed + RANDOM_BYTES));
  poolUsed += RANDOM_BYTES;
  return text;
}
