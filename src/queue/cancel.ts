/**
 * Cancels or reschedules mail whose delivery has not been attempted. Mail is also canceled when its remaining
 * recipients are all held.
 */
import type { Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { AppError } from '../system/errors.ts';
import {
  changeRecipient,
  getMessage,
  listRecipients,
  redateMessage,
  refreshStatus,
  type SpooledMessage,
} from './store.ts';

/**
 * Cancels the open recipients of a message, as part of a write. The caller has checked that the message belongs to
 * the tenant. Recipients that are delivered or bounced keep their state.
 * @throws AppError invalid_state when the delivery has begun, or when the email is canceled already
 */
export async function cancelMessage(
  tx: Tx,
  { messageId, now }: { messageId: string; now: number },
): Promise<void> {
  const message = await getMessage(tx, messageId);
  const all = await listRecipients(tx, messageId);
  const open = all.filter(isOpen);
  if (!isUntouched(all) && !isStoppedByHold(open)) throw tooLate(message, 'canceled');
  for (const recipient of open) {
    const patch = { state: 'canceled', dueAt: null, runId: null, interruptedAttempts: 0 } as const;
    await changeRecipient(tx, message, recipient, patch, {
      now,
      event: { type: 'email.canceled', details: {} },
    });
  }
  await refreshStatus(tx, message, all);
}

export type Rescheduling = { messageId: string; now: number; datedAt: number; expiresAt: number };

/**
 * Moves a message without any attempt to another time. The times are Unix milliseconds.
 * @throws AppError invalid_state when the delivery has begun, or when the email is canceled already
 */
export async function rescheduleMessage(
  tx: Tx,
  { messageId, now, datedAt, expiresAt }: Rescheduling,
): Promise<void> {
  const message = await getMessage(tx, messageId);
  const all = await listRecipients(tx, messageId);
  if (!isUntouched(all)) throw tooLate(message, 'rescheduled');
  for (const recipient of all.filter(isOpen))
    await changeRecipient(tx, message, recipient, { dueAt: datedAt }, { now });
  await redateMessage(tx, { id: message.id, datedAt, expiresAt });
}

function isOpen({ state }: RecipientRow): boolean {
  return state === 'ready' || state === 'deferred' || state === 'in_flight' || state === 'held';
}

function isUntried({ state, attempts }: RecipientRow): boolean {
  return state === 'ready' && attempts === 0;
}

/** Returns true when no recipient was attempted and at least one recipient still waits for its first attempt. */
function isUntouched(all: readonly RecipientRow[]): boolean {
  const isSpared = ({ state, attempts }: RecipientRow) => state === 'suppressed' && attempts === 0;
  return all.some(isUntried) && all.every((recipient) => isUntried(recipient) || isSpared(recipient));
}

/**
 * Returns true when the rest of the delivery waits for an operator: at least one recipient is held, and each other
 * open recipient was never attempted.
 */
function isStoppedByHold(open: readonly RecipientRow[]): boolean {
  const isHeld = ({ state }: RecipientRow) => state === 'held';
  return open.some(isHeld) && open.every((recipient) => isHeld(recipient) || isUntried(recipient));
}

function tooLate(message: SpooledMessage, wish: string): AppError {
  return new AppError(
    'invalid_state',
    message.status === 'canceled'
      ? 'The email is canceled already'
      : `The email can no longer be ${wish}: its delivery has begun`,
  );
}
