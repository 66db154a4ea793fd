/**
 * Limits failed logins, for each client address and for each account. Right passwords do not count. The limit of an account does
 * not hold where its owner has logged in from before, so that nobody can lock the owner out by guessing. A browser that its owner has logged in
 * with before has a small budget of its own, wherever it is.
 */
import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import { addressBlock } from '../../system/address-block.ts';
import { createAddressLimit } from '../../system/guards/address-limit.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { createLru } from '../../system/lru.ts';

/** Time in which the limits of passwords allow as many failures as they say, after a first burst of as many. */
const PERIOD_SECONDS = 600;
/** Maximum number of accounts whose failures are counted. The limit of addresses bounds how fast others replace them. */
const MAX_ACCOUNTS = 100_000;
/** Maximum number of pairs of an account and an address from which its owner has logged in. */
const MAX_KNOWN = 100_000;

/** Number of failures of a known browser in the period, beside those of its address and its account. */
const PER_DEVICE = 5;
/** Maximum number of known browsers whose failures are counted. Each has logged in before, so that strangers replace none. */
const MAX_DEVICES = 100_000;

/**
 * `account` is the name that somebody wants to log in with, whether it exists or not; `address` is the IP address of the client, and `device` the
 * id of a browser in which the owner of the account has logged in before.
 */
type Attempt = { account: string; address: string; device?: string | undefined };

export type LoginFailures = {
  /** Returns true when another attempt may be made. */
  mayTry(attempt: Attempt): boolean;
  /** Counts a failed attempt. */
  failed(attempt: Attempt): void;
  /** Remembers that the owner of the account uses this address. */
  succeeded(attempt: Attempt): void;
};

/** Numbers of failures that are allowed in a period. */
type FailureLimits = { perAccount: number; perAddress: number; periodSeconds: number };

/** Returns the limits of passwords of an installation where nobody has tried yet. */
export function createLoginFailures({ clock, config }: Pick<App, 'clock' | 'config'>): LoginFailures {
  const { failuresPerAccount: perAccount, failuresPerAddress: perAddress } = config.mailboxes;
  return createFailures(clock, { perAccount, perAddress, periodSeconds: PERIOD_SECONDS });
}

/** Returns limits that have counted nothing yet. */
export function createFailures(
  clock: App['clock'],
  { perAccount, perAddress, periodSeconds }: FailureLimits,
): LoginFailures {
  const addresses = createAddressLimit(clock, {
    requestsPerSecond: perAddress / periodSeconds,
    burst: perAddress,
  });
  const accounts = createTokenBuckets(clock, MAX_ACCOUNTS);
  const accountSize = { tokensPerSecond: perAccount / periodSeconds, burst: perAccount };
  const devices = createTokenBuckets(clock, MAX_DEVICES);
  const deviceSize = { tokensPerSecond: PER_DEVICE / periodSeconds, burst: PER_DEVICE };
  const mayDeviceTry = ({ device }: Attempt) => device !== undefined && devices.mayTake(device, deviceSize);
  const known = createLru<string, true>(MAX_KNOWN);
  const pairOf = ({ account, address }: Attempt) => keyOf(`${addressBlock(address)} ${account}`);
  return {
    mayTry: (attempt) =>
      mayDeviceTry(attempt) ||
      (addresses.mayTake(attempt.address) &&
        (known.has(pairOf(attempt)) || accounts.mayTake(keyOf(attempt.account), accountSize))),
    failed(attempt) {
      const { account, address, device } = attempt;
      if (device !== undefined && mayDeviceTry(attempt)) return devices.charge(device, deviceSize);
      addresses.take(address);
      // Attempts that ran at the same time were all allowed by one token, and later ones wait for each of them.
      accounts.charge(keyOf(account), accountSize);
    },
    succeeded: (attempt) => void known.set(pairOf(attempt), true),
  };
}

/** Returns the name under which failures count. A stranger chooses the account, and its hash takes the same little memory however long it is. */
function keyOf(account: string): string {
  return createHash('sha256').update(account).digest('base64');
}
