/**
 * Limits to how many recipients a mailbox writes: whoever steals a password must not be able to send spam to the world. A person writes to
 * fewer, and most of them again and again.
 */
import type { App } from '../../app.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { readUnsentBytes } from '../../queue/submitted/store.ts';
import { AppError } from '../../system/errors.ts';
import { countNew, readUse } from './store.ts';

/**
 * Size of the messages of a mailbox that wait for their recipients, from which no more are taken. Mail that is held for a year, or that no
 * server takes, could otherwise fill the disk. Our own limit.
 */
const MAX_UNSENT_BYTES = 1024 * 1024 * 1024;

/** Maximum numbers of recipients within 24 hours. */
export type Limits = Pick<App['config']['submission'], 'recipientsPerDay' | 'newRecipientsPerDay'>;

type Question = { mailboxId: MailboxRow['id']; addresses: readonly string[] };

/**
 * Checks that a mailbox may write to these recipients of one message now.
 * @throws AppError rate_limited, quota_exceeded
 */
export function requireWithinLimits(
  { db, clock, config }: Pick<App, 'db' | 'clock' | 'config'>,
  question: Question,
): Promise<void> {
  return requireInWrite(db.read, { ...question, limits: config.submission, now: clock.now() });
}

/**
 * Checks the limits as part of a write, because many messages can be on their way at the same time.
 * @throws AppError rate_limited, quota_exceeded
 */
export async function requireInWrite(
  tx: Tx,
  { mailboxId, addresses, limits, now }: Question & { limits: Limits; now: number },
): Promise<void> {
  const { recipientsPerDay, newRecipientsPerDay } = limits;
  if ((await readUnsentBytes(tx, mailboxId)) >= MAX_UNSENT_BYTES)
    throw new AppError('quota_exceeded', 'Too much mail of the mailbox waits for its recipients');
  const use = await readUse(tx, mailboxId, now);
  if (use.recipients + addresses.length > recipientsPerDay)
    throw new AppError('rate_limited', `The mailbox may write to ${recipientsPerDay} recipients a day`);
  // Known addresses need not be looked up while there is space for new ones.
  if (use.newRecipients + addresses.length <= newRecipientsPerDay) return;
  if (use.newRecipients + (await countNew(tx, mailboxId, addresses)) > newRecipientsPerDay)
    throw new AppError(
      'rate_limited',
      `The mailbox may write to ${newRecipientsPerDay} recipients a day to whom it has not written before`,
    );
}
