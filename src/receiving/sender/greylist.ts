/**
 * Greylisting (RFC 6647): the first message from a network is deferred, since programs that send spam rarely try again. An
 * attempt is known by the network of the client, the sender and the recipient; after a successful retry all mail from the network
 * is accepted (section 5). What is remembered survives a restart.
 */
import { createHash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { App } from '../../app.ts';
import type { GreylistEntryRow } from '../../db/inbound-tables.ts';
import { addressKey } from '../../mail/address.ts';
import { addressBlock } from '../../system/address-block.ts';
import { DAY_MS } from '../../system/clock.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { deferAttempt, listEntries, PASSED, passNetwork } from './store.ts';

type Attempt = { address: string; sender: string; recipient: string };

export type Greylist = {
  /** Returns the number of seconds after which a retry passes; 0 when the attempt passes now. */
  check(attempt: Attempt): Promise<number>;
};

type Settings = App['config']['inbound']['greylisting'];

const HOUR_MS = 3_600_000;
const MS_PER_SECOND = 1_000;
/**
 * Maximum rate of new entries. When many networks come at once, as a botnet does, mail beyond it passes: it must not be deferred
 * without being remembered, because it would then be deferred for ever.
 */
const NEW_ENTRIES = { burst: 1_000, tokensPerSecond: 5 };
/** Length of the hash of an attempt: 128 bits. */
const HASH_CHARACTERS = 22;

/** Returns the check with these settings, which need not be enabled. */
export function createGreylist({ db, clock }: Pick<App, 'db' | 'clock'>, settings: Settings): Greylist {
  const delayMs = settings.delaySeconds * MS_PER_SECOND;
  const keepMs = settings.keepDays * DAY_MS;
  const newEntries = createTokenBuckets(clock, 1);

  async function pass(network: string, now: number): Promise<number> {
    await db.commit(passNetwork, { network, firstSeenAt: now, expiresAt: now + keepMs });
    return 0;
  }

  return {
    async check({ address, sender, recipient }) {
      const now = clock.now();
      const network = networkOf(address);
      const attempt = hashOf(sender, recipient);
      const entries = await listEntries(db.read, { network, attempt });
      const [passed, seen] = [entries.find(isPassed), entries.find((entry) => !isPassed(entry))];
      if (passed && now < passed.expiresAt) {
        // One write a day keeps a network that sends often.
        if (passed.expiresAt < now + keepMs - DAY_MS) await pass(network, now);
        return 0;
      }
      if (!seen || now >= seen.expiresAt) {
        if (!newEntries.take('', NEW_ENTRIES).allowed) return 0;
        const expiresAt = now + settings.retryHours * HOUR_MS;
        const isRemembered = await db.commit(deferAttempt, { network, attempt, firstSeenAt: now, expiresAt });
        return isRemembered ? settings.delaySeconds : 0;
      }
      const leftMs = seen.firstSeenAt + delayMs - now;
      // A wait that is longer than the delay means that the clock was set back.
      if (leftMs <= 0 || leftMs > delayMs) return pass(network, now);
      return Math.ceil(leftMs / MS_PER_SECOND);
    },
  };
}

function isPassed({ attempt }: GreylistEntryRow): boolean {
  return attempt === PASSED;
}

/** Clusters of senders retry from other addresses of their network (RFC 6647 section 5): a /24 of IPv4, a /64 of IPv6. */
function networkOf(address: string): string {
  const block = addressBlock(address);
  return isIPv4(block) ? block.slice(0, block.lastIndexOf('.')) : block;
}

function hashOf(sender: string, recipient: string): string {
  const hash = createHash('sha256').update(`${addressKey(sender)}\n${addressKey(recipient)}`);
  return hash.digest('base64url').slice(0, HASH_CHARACTERS);
}
