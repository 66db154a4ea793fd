/**
 * Held mail is stored, shown and counted, but not tried again until an operator releases it (`postrider queue release`).
 * Mail is held when another attempt would do harm: its delivery keeps crashing the daemon, or its stored bytes are
 * damaged.
 */
import { defineWrite } from '../../db/operation.ts';
import type { Mode, RecipientRow } from '../../db/tables.ts';
import { AppError, notFound } from '../../system/errors.ts';
import type { HoldReason } from '../outcome/outcome.ts';
import { findMessage, listRecipients, redateMessage, type SpooledMessage } from '../store.ts';
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
 * Makes the held recipients of an email due again and returns how many there were. A recipient that was held for
 * crashes is tried alone, and a single further crash holds it again.
 * @throws AppError not_found; invalid_state when none of them is held
 */
export const releaseHeld = defineWrite(
  'queue.releaseHeld',
  async (tx, { emailId, now }: { emailId: string; now: number }): Promise<number> => {
    const message = await findMessage(tx, emailId);
    if (!message) throw notFound('Email');
    const mail = { message, recipients: await listRecipients(tx, emailId), others: [] };
    const released = await changeEach(tx, mail, {
      now,
      transitionOf: ({ state }) => (state === 'held' ? { cause: 'released', dueAt: now } : undefined),
    });
    if (released === 0) throw new AppError('invalid_state', 'No recipient of this email is held');
    const expiresAt = Math.max(message.expiresAt, now + MIN_RELEASED_LIFE_MS);
    await redateMessage(tx, { id: emailId, datedAt: message.datedAt, expiresAt });
    return released;
  },
);
