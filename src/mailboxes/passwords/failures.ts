/**
 * Limits failed logins, for each client address and for each account. Right passwords do not count. The limit of an account does
 * not hold where its owner has logged in from before, so that nobody can lock the owner out by guessing.
 */
import type { App } from '../../app.ts';
import { addressBlock } from '../../system/address-block.ts';
import { createAddressLimit } from '../../system/guards/address-limit.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { createLru } from '../../system/lru.ts';

/** Time in which the limits allow as many failures as they say, after a first burst of as many. */
const PERIOD_SECONDS = 600;
/** Maximum number of accounts whose failures are counted. The limit of addresses bounds how fast others replace them. */
const MAX_ACCOUNTS = 100_000;
/** Maximum number of pairs of an account and an address from which its owner has logged in. */
const MAX_KNOWN = 100_000;

/** `account` is the name that somebody wants to log in with, whether it exists or not; `address` is the IP address of the client. */
type Attempt = { account: string; address: string };

export type LoginFailures = {
  /** Returns true when another attempt may be made. */
  mayTry(attempt: Attempt): boolean;
  /** Counts a failed attempt. */
  failed(attempt: Attempt): void;
  /** Remembers that the owner of the account uses this address. */
  succeeded(attempt: Attempt): void;
};

/** Returns the limits of an installation where nobody has tried yet. */
export function createLoginFailures({ clock, config }: Pick<App, 'clock' | 'config'>): LoginFailures {
  const { failuresPerAccount, failuresPerAddress } = config.mailboxes;
  const addresses = createAddressLimit(clock, {
    requestsPerSecond: failuresPerAddress / PERIOD_SECONDS,
    burst: failuresPerAddress,
  });
  const accounts = createTokenBuckets(clock, MAX_ACCOUNTS);
  const accountSize = { tokensPerSecond: failuresPerAccount / PERIOD_SECONDS, burst: failuresPerAccount };
  const known = createLru<string, true>(MAX_KNOWN);
  const pairOf = ({ account, address }: Attempt) => `${addressBlock(address)} ${account}`;
  return {
    mayTry: (attempt) =>
      addresses.mayTake(attempt.address) &&
      (known.has(pairOf(attempt)) || accounts.mayTake(attempt.account, accountSize)),
    failed({ account, address }) {
      addresses.take(address);
      // Attempts that ran at the same time were all allowed by one token, and later ones wait for each of them.
      accounts.charge(account, accountSize);
    },
    succeeded: (attempt) => void known.set(pairOf(attempt), true),
  };
}
