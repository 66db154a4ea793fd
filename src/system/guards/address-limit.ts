/**
 * Limits what clients that have not authenticated may ask for, by their network: anybody can send such requests, and
 * they must not delay those of known clients.
 */
import { countedBlocks } from '../address-block.ts';
import type { Clock } from '../clock.ts';
import { createTokenBuckets } from './token-buckets.ts';

type AddressLimits = { requestsPerSecond: number; burst: number };

export type AddressLimit = {
  readonly requestsPerSecond: number;
  /** Counts one request of a client. `retryAfterSeconds` is the time until a refused one is allowed; 0 for an allowed one. */
  take(address: string): { allowed: boolean; retryAfterSeconds: number };
  /** Returns true when one more request of a client is allowed, and counts none. */
  mayTake(address: string): boolean;
};

/**
 * Maximum request rate of one address. Health checks and scrapers ask once every few seconds; the reference page takes
 * six requests.
 */
const MAX_REQUESTS_PER_SECOND = 50;
const MAX_BURST = 500;
const MAX_ADDRESSES = 10_000;

/** Returns a limit that has counted nothing. It remembers at most MAX_ADDRESSES blocks of addresses. */
export function createAddressLimit(
  clock: Pick<Clock, 'elapsed'>,
  { requestsPerSecond = MAX_REQUESTS_PER_SECOND, burst = MAX_BURST }: Partial<AddressLimits> = {},
): AddressLimit {
  const buckets = createTokenBuckets(clock, MAX_ADDRESSES);
  const sizeFor = (factor: number) => ({
    tokensPerSecond: requestsPerSecond * factor,
    burst: burst * factor,
  });
  return {
    requestsPerSecond,
    take(address) {
      // The smallest block comes first, so that requests that it is refused use up nothing of the others in its site.
      for (const { name, factor } of countedBlocks(address)) {
        const size = sizeFor(factor);
        const { allowed, tokens } = buckets.take(name, size);
        if (!allowed) return { allowed, retryAfterSeconds: Math.ceil((1 - tokens) / size.tokensPerSecond) };
      }
      return { allowed: true, retryAfterSeconds: 0 };
    },
    mayTake: (address) =>
      countedBlocks(address).every(({ name, factor }) => buckets.mayTake(name, sizeFor(factor))),
  };
}
