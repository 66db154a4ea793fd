/** Limits how many notifications the senders of received mail are sent, so that nobody has this installation flood somebody. */
import { addressKey, type Mailbox } from '../mail/address.ts';
import type { Clock } from '../system/clock.ts';
import { createTokenBuckets } from '../system/guards/token-buckets.ts';

export type Rate = { burst: number; tokensPerSecond: number };

/** Maximum rates of notifications to one address, and to one domain. */
export const ADDRESS_RATE: Rate = { burst: 20, tokensPerSecond: 1 / 300 };
const DOMAIN_RATE: Rate = { burst: 200, tokensPerSecond: 1 / 10 };
/** Maximum number of addresses and domains that are counted. When more are active at once, some may exceed their rate. */
const MAX_COUNTED = 10_000;

/** Counts a notification, and returns false when the address or its domain has had too many. */
export type MayTell = (to: Mailbox) => boolean;

export function createSenderLimits(clock: Pick<Clock, 'elapsed'>, domainRate = DOMAIN_RATE): MayTell {
  const addresses = createTokenBuckets(clock, MAX_COUNTED);
  const domains = createTokenBuckets(clock, MAX_COUNTED);
  return ({ address, domain }) =>
    addresses.take(addressKey(address), ADDRESS_RATE).allowed && domains.take(domain, domainRate).allowed;
}
