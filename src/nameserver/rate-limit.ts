/**
 * Limits the answers to each network. The sender of a datagram can be forged, and whoever asks in the name of a victim makes the server
 * send to it. Memory does not grow with the number of networks: networks share buckets, by a hash that nobody outside knows.
 */
import { randomInt } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { addressSite } from '../system/address-block.ts';
import type { Clock } from '../system/clock.ts';

type RateLimit = {
  /** Counts an answer to this address. Returns false beyond the limit. */
  take(address: string): boolean;
};

/** Answers a second, and answers at once after a silence, to one network: the /24 of an IPv4 address, and the /48 of an IPv6 address. */
export type Rate = { perSecond: number; burst: number };

/** Number of buckets. Each takes 16 bytes. */
const BUCKETS = 65_536;
const MAPPED_IPV4 = '::ffff:';
/** Offset and multiplier of the hash FNV-1a of 32 bits. */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Returns a limit that nobody has used. */
export function createRateLimit(clock: Pick<Clock, 'elapsed'>, { perSecond, burst }: Rate): RateLimit {
  const seed = randomInt(2 ** 32);
  const tokens = new Float64Array(BUCKETS).fill(burst);
  const times = new Float64Array(BUCKETS).fill(clock.elapsed());
  return {
    take(address) {
      const bucket = hash(networkOf(address), seed) % BUCKETS;
      const now = clock.elapsed();
      const gained = ((now - (times[bucket] ?? now)) / 1_000) * perSecond;
      const held = Math.min(burst, (tokens[bucket] ?? 0) + gained);
      times[bucket] = now;
      tokens[bucket] = held >= 1 ? held - 1 : held;
      return held >= 1;
    },
  };
}

function networkOf(address: string): string {
  const plain = address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : address;
  return isIPv4(plain) ? plain.slice(0, plain.lastIndexOf('.')) : addressSite(plain);
}

function hash(text: string, seed: number): number {
  let value = FNV_OFFSET ^ seed;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), FNV_PRIME);
  return value >>> 0;
}
