/**
 * Held mail is stored, shown and counted, but not tried again until an operator releases it (`postrider queue release`).
 * Mail is held when another attempt would do harm, because its delivery keeps crashing the daemon or its stored bytes are
 * damaged, and when the operator holds it. Mail that waits for the approval of a person is held too, and no operator releases it
 * (approval.ts).
 */
import type { Tx } from '../../db/operation.ts';
import type { HoldReason, Mode, RecipientRow } from '../../db/tables.ts';
import type { Mail } from '../mail-store.ts';
import { redateMessage, type SpooledMessage } from '../store.ts';
import { isUnapproved } from './approval.ts';
import { changeEach } from './change.ts';

/** A recipient that has just been held, with the fields that the log shows. */
export type HeldRecipient = {
  emailId: string;
  tenantId: string;
  mode: Mode;
  to: string;
  attempt: number;
  reason: HoldReason;
  diagnostic: string;
};

/** Returns the fields that the log shows of a recipient that is being held. */
export function heldRecipient(
  { id: emailId, tenantId, mode }: SpooledMessage,
  { address: to, attempts: attempt }: RecipientRow,
  { reason, diagnostic }: { reason: HoldReason; diagnostic: string },
): HeldRecipient {
  return { emailId, tenantId, mode, to, attempt, reason, diagnostic };
}

/**
 * Minimum time before a released email expires, in milliseconds. One day of retries, as for a broadcast.
 */
const MIN_RELEASED_LIFE_MS = 24 * 3_600_000;

/**
 * Makes held recipients of a message due again, as part of a write, and returns how many there were. A recipient that was held for
 * crashes is tried alone, and a single further crash holds it again. Scheduled mail keeps its time.
 */
export async function releaseRecipients(
  tx: Tx,
  mail: Mail,
  { now, isReleased }: { now: number; isReleased: (recipient: RecipientRow) => boolean },
): Promise<number> {
  const { message } = mail;
  const released = { cause: 'released', dueAt: Math.max(now, message.datedAt) } as const;
  const count = await changeEach(tx, mail, {
    now,
    transitionOf: (recipient) =>
      recipient.state === 'held' && !isUnapproved(recipient) && isReleased(recipient) ? released : undefined,
  });
  const expiresAt = Math.max(message.expiresAt, released.dueAt + MIN_RELEASED_LIFE_MS);
  if (count > 0) await redateMessage(tx, { id: message.id, datedAt: message.datedAt, expiresAt });
  return count;
}
