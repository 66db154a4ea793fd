/**
 * Limits the messages of each sender domain, from whatever addresses they come. Anybody can write any domain into MAIL FROM, so
 * only messages for which SPF passes count: nobody but the domain itself can use up what it may send.
 */

import type { AuthenticationResult } from '../../mail/auth/result.ts';
import type { Reply } from '../../mail/smtp/server/session.ts';
import { addressBlock } from '../../system/address-block.ts';
import type { Clock } from '../../system/clock.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { createLru } from '../../system/lru.ts';

type Envelope = {
  /** Address of the client; undefined for mail that has none. */
  address: string | undefined;
  /** Envelope sender; empty for the null sender. */
  sender: string;
};

export type SenderRates = {
  /**
   * Counts a message before it is sent, when SPF has passed for the domain and the network of the client before. Returns the
   * refusal of a message that is too many.
   */
  refuseKnown(envelope: Envelope): Reply | undefined;
  /** Counts a message that `refuseKnown` could not count, by its results. Returns the refusal of one that is too many. */
  refuseProven(envelope: Envelope, spf: AuthenticationResult['spf']): Reply | undefined;
};

/** Maximum rate of the messages of a domain. Large mailbox providers stay below it. */
export const DOMAIN_RATE = { burst: 2_000, tokensPerSecond: 50 };
/** Maximum number of domains that are counted. When more are active at once, some may exceed their rate. */
const MAX_DOMAINS = 10_000;
/** Maximum number of pairs of a domain and a network for which SPF has passed. */
const MAX_PROVEN = 50_000;

/** Returns the limits. Clients for which `isExempt` returns true have none. */
export function createSenderRates(
  clock: Pick<Clock, 'elapsed'>,
  isExempt: (address: string) => boolean,
): SenderRates {
  const domains = createTokenBuckets(clock, MAX_DOMAINS);
  const proven = createLru<string, true>(MAX_PROVEN);

  function take(domain: string): Reply | undefined {
    const { allowed, tokens } = domains.take(domain, DOMAIN_RATE);
    if (allowed) return undefined;
    const seconds = Math.ceil((1 - tokens) / DOMAIN_RATE.tokensPerSecond);
    // X.7.1 is a refusal by policy (RFC 3463 section 3.8).
    return {
      code: 450,
      status: '4.7.1',
      text: `${domain} sends too many messages; try again in ${seconds} s`,
    };
  }

  return {
    refuseKnown(envelope) {
      const pair = pairOf(envelope, isExempt);
      return pair && proven.get(pair.key) ? take(pair.domain) : undefined;
    },
    refuseProven(envelope, spf) {
      const pair = pairOf(envelope, isExempt);
      if (!pair || spf.result !== 'pass' || spf.domain !== pair.domain || proven.get(pair.key))
        return undefined;
      proven.set(pair.key, true);
      return take(pair.domain);
    },
  };
}

function pairOf({ address, sender }: Envelope, isExempt: (address: string) => boolean) {
  if (address === undefined || sender === '' || isExempt(address)) return undefined;
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  return { domain, key: `${addressBlock(address)} ${domain}` };
}
