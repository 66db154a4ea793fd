/**
 * Held mail is kept, shown and counted, but not tried again until an operator releases it (`postrider queue release`).
 * Mail is held when another attempt would do harm: its delivery keeps crashing the daemon, or its stored bytes are
 * damaged.
 */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { Mode, RecipientRow } from '../../db/tables.ts';
import { AppError, notFound } from '../../system/errors.ts';
import {
  changeRecipient,
  findMessage,
  listRecipients,
  redateMessage,
  refreshStatus,
  type SpooledMessage,
} from '../store.ts';
import { MAX_INTERRUPTIONS, releasedDueAt } from './suspect.ts';

/**
 * `interrupted`: the daemon ended during several attempts. `damaged`: the stored message is missing or its bytes have
 * changed.
 */
export type HoldReason = 'interrupted' | 'damaged';

export type Hold = { reason: HoldReason; diagnostic: string; interruptedAttempts: number; now: number };

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

/**
 * Holds a recipient, as part of the write that ends an attempt. The caller records the attempt and calls
 * `refreshStatus`.
 */
export async function holdRecipient(
  tx: Tx,
  { message, recipient }: { message: SpooledMessage; recipient: RecipientRow },
  { reason, diagnostic, interruptedAttempts, now }: Hold,
): Promise<HeldRecipient> {
  const noReply = { smtpCode: null, enhancedCode: null, mx: null, tls: null };
  const patch = {
    state: 'held',
    dueAt: null,
    runId: null,
    interruptedAttempts,
    diagnostic,
    ...noReply,
  } as const;
  const event = { type: 'email.held', details: { hold: { reason, diagnostic } } } as const;
  await changeRecipient(tx, message, recipient, patch, { now, event });
  const { id: emailId, tenantId, mode } = message;
  return { emailId, tenantId, mode, to: recipient.address, attempt: recipient.attempts, reason, diagnostic };
}

/**
 * Minimum time before a released email expires, in milliseconds. Our own limit: one day of retries, as for a broadcast.
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
    const all = await listRecipients(tx, emailId);
    const held = all.filter(({ state }) => state === 'held');
    if (held.length === 0) throw new AppError('invalid_state', 'No recipient of this email is held');
    for (const recipient of held) {
      const interruptedAttempts = Math.min(recipient.interruptedAttempts, MAX_INTERRUPTIONS - 1);
      const patch = {
        state: 'ready',
        interruptedAttempts,
        dueAt: releasedDueAt(interruptedAttempts, now),
      } as const;
      await changeRecipient(tx, message, recipient, patch, { now });
    }
    const expiresAt = Math.max(message.expiresAt, now + MIN_RELEASED_LIFE_MS);
    await redateMessage(tx, { id: emailId, datedAt: message.datedAt, expiresAt });
    await refreshStatus(tx, message, all);
    return held.length;
  },
);
