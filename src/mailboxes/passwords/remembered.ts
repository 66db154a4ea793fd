/**
 * Remembers for ten minutes which passwords were right, so that clients that connect again and again cost no hash. What is kept is
 * an HMAC under a key of this process, which includes the stored hash: a new password makes the old one unknown at once.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Clock } from '../../system/clock.ts';
import { createLru } from '../../system/lru.ts';

/** Time for which a right password is remembered, in milliseconds. */
const REMEMBERED_MS = 600_000;
/** Maximum number of passwords that are remembered: 2 MB. */
const MAX_REMEMBERED = 10_000;
const KEY_BYTES = 32;

type Account = Pick<MailboxRow, 'id' | 'passwordHash'>;

type RememberedPasswords = {
  /** Returns true when this password was right within the last ten minutes. */
  has(account: Account, password: string): boolean;
  /** Remembers a right password. */
  add(account: Account, password: string): void;
};

/** Returns an empty memory of passwords. */
export function createRememberedPasswords(clock: Pick<Clock, 'elapsed'>): RememberedPasswords {
  const key = randomBytes(KEY_BYTES);
  const until = createLru<string, number>(MAX_REMEMBERED);
  const nameOf = ({ id, passwordHash }: Account, password: string) =>
    createHmac('sha256', key).update(`${id}\0${passwordHash}\0${password}`).digest('base64');
  return {
    has: (account, password) => (until.get(nameOf(account, password)) ?? 0) > clock.elapsed(),
    add(account, password) {
      until.set(nameOf(account, password), clock.elapsed() + REMEMBERED_MS);
    },
  };
}
