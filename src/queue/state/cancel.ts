/**
 * Cancels or reschedules mail whose delivery has not been attempted. Mail is also canceled when its remaining
 * recipients are all held.
 */
import type { Tx } from '../../db/operation.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { AppError } from '../../system/errors.ts';
import { getMail } from '../mail-store.ts';
import { redateMessage, type SpooledMessage } from '../store.ts';
import { changeEach } from './change.ts';

const CANCELED = { cause: 'canceled' } as const;

/**
 * Cancels the open recipients of a message, as part of a write. The caller has checked that the message belongs to
 * the tenant. Recipients that are delivered or bounced keep their state.
 * @throws AppError invalid_state when the delivery has begun, or when the email is canceled already
 */
export async function cancelMessage(
  tx: Tx,
  { messageId, now }: { messageId: string; now: number },
): Promise<void> {
  const mail = await getMail(tx, messageId);
  const open = mail.recipients.filter(isOpen);
  if (!isUntouched(mail.recipients) && !isStoppedByHold(open)) throw tooLate(mail.message, 'canceled');
  const transitionOf = (recipient: RecipientRow) => (isOpen(recipient) ? CANCELED : undefined);
  await changeEach(tx, mail, { now, transitionOf });
}

type Rescheduling = { messageId: string; now: number; datedAt: number; expiresAt: number };

/**
 * Moves a message without any attempt to another time. The times are Unix milliseconds.
 * @throws AppError invalid_state when the delivery has begun, or when the email is canceled already
 */
export async function rescheduleMessage(
  tx: Tx,
  { messageId, now, datedAt, expiresAt }: Rescheduling,
): Promise<void> {
  const mail = await getMail(tx, messageId);
  if (!isUntouched(mail.recipients)) throw tooLate(mail.message, 'rescheduled');
  const transition = { cause: 'rescheduled', dueAt: datedAt } as const;
  const transitionOf = (recipient: RecipientRow) => (isOpen(recipient) ? transition : undefined);
  await changeEach(tx, mail, { now, transitionOf });
  await redateMessage(tx, { id: messageId, datedAt, expiresAt });
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

function tooLate(message: SpooledMessage, action: string): AppError {
  return new AppError(
    'invalid_state',
    message.status === 'canceled'
      ? 'The email is canceled already'
      : `The email can no longer be ${action}: its delivery has begun`,
  );
}
