/**
 * Decides whether another message is within the quota of its mailbox, mostly from memory: a mailbox to which mail comes faster than it is delivered
 * would otherwise have all that waits added up for each message.
 */
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import { UpperBounds } from '../db/upper-bounds.ts';
import { readWaitingBytes } from './store.ts';

type MailboxId = MailboxRow['id'];

export type MailboxQuota = {
  /**
   * Returns true when a message fits into the quota of a mailbox together with what waits for it. What the mailbox has stored in the last
   * seconds may not be counted yet, so it can exceed its quota a little.
   */
  isWithinQuota(
    mailbox: Pick<MailboxRow, 'id' | 'usedBytes' | 'quotaBytes'>,
    sizeBytes: number,
  ): Promise<boolean>;
  /** Takes a message into account that waits for a mailbox from now on. */
  noteWaiting(mailboxId: MailboxId, sizeBytes: number): void;
};

/** Maximum number of mailboxes that are cached: a few MB. */
const MAX_MAILBOXES = 10_000;

/** Returns the check, which knows no mailbox yet. */
export function createMailboxQuota({ read }: { read: Tx }): MailboxQuota {
  const waiting = new UpperBounds<MailboxId>((id) => readWaitingBytes(read, id), MAX_MAILBOXES);
  return {
    isWithinQuota: ({ id, usedBytes, quotaBytes }, sizeBytes) =>
      waiting.doesFit(id, (waitingBytes) => {
        const bytes = usedBytes + waitingBytes;
        return bytes < quotaBytes && bytes + sizeBytes <= quotaBytes;
      }),
    noteWaiting: (mailboxId, sizeBytes) => waiting.add(mailboxId, sizeBytes),
  };
}
