/**
 * Cancels mail that waits, and reschedules mail whose delivery has not been attempted.
 */
import type { Tx } from '../../db/operation.ts';
import type { RecipientRow, RecipientState } from '../../db/tables.ts';
import { AppError } from '../../system/errors.ts';
import { getMail } from '../mail-store.ts';
import { redateMessage, type SpooledMessage } from '../store.ts';
import { isUnapproved } from './approval.ts';
import { changeEach } from './change.ts';

/** The open states but `in_flight`, in which a server may have the message already. */
const WAITING: readonly RecipientState[] = ['ready', 'deferred', 'held'];

/** Returns true for a recipient that is not being sent to and is not final. */
export function isWaiting({ state }: Pick<RecipientRow, 'state'>): boolean {
  return WAITING.includes(state);
}

const CANCELED = { cause: 'canceled' } as const;

/**
 * Cancels the recipients of a message that wait, whether they were attempted or not, as part of a write. The caller has checked that the
 * message belongs to the tenant. Recipients that are delivered or bounced keep their state.
 * @throws AppError invalid_state when a recipient is being sent to at this moment, or when none waits
 */
export async function cancelMessage(
  tx: Tx,
  { messageId, now }: { messageId: string; now: number },
): Promise<void> {
  const mail = await getMail(tx, messageId);
  if (mail.recipients.some(({ state }) => state === 'in_flight'))
    throw new AppError(
      'invalid_state',
      'The email is being delivered at this moment; it can be canceled if a recipient is still waiting afterwards',
    );
  if (!mail.recipients.some(isWaiting))
    throw new AppError(
      'invalid_state',
      mail.message.status === 'canceled'
        ? 'The email is canceled already'
        : 'The email can no longer be canceled: no recipient is waiting',
    );
  const transitionOf = (recipient: RecipientRow) => (isWaiting(recipient) ? CANCELED : undefined);
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
  if (!isUntouched(mail.recipients)) throw tooLate(mail.message);
  const transition = { cause: 'rescheduled', dueAt: datedAt } as const;
  const transitionOf = ({ state }: RecipientRow) => (state === 'ready' ? transition : undefined);
  await changeEach(tx, mail, { now, transitionOf });
  await redateMessage(tx, { id: messageId, datedAt, expiresAt });
}

/** Mail that waits for approval keeps waiting for it when it is rescheduled. */
function isUntried(recipient: RecipientRow): boolean {
  const { state, attempts } = recipient;
  return attempts === 0 && (state === 'ready' || isUnapproved(recipient));
}

/** Returns true when no recipient was attempted and at least one recipient still waits for its first attempt. */
function isUntouched(all: readonly RecipientRow[]): boolean {
  const isSpared = ({ state, attempts }: RecipientRow) => state === 'suppressed' && attempts === 0;
  return all.some(isUntried) && all.every((recipient) => isUntried(recipient) || isSpared(recipient));
}

function tooLate(message: SpooledMessage): AppError {
  return new AppError(
    'invalid_state',
    message.status === 'canceled'
      ? 'The email is canceled already'
      : 'The email can no longer be rescheduled: its delivery has begun',
  );
}
