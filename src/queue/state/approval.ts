/**
 * Holds mail until a person approves it. No release of an operator ends such a hold: `approved` is the only transition that makes its
 * recipients due (transition.ts).
 */
import type { Tx } from '../../db/operation.ts';
import type { RecipientRow } from '../../db/tables.ts';
import type { Mail } from '../mail-store.ts';
import { redateMessage } from '../store.ts';
import { changeEach } from './change.ts';
import type { Transition } from './transition.ts';

const WAITS: Transition = {
  cause: 'held',
  reason: 'approval',
  diagnostic: 'The email waits until a person approves it',
};

/** Returns true for a recipient that waits for the approval of a person. */
export function isUnapproved({ state, holdReason }: Pick<RecipientRow, 'state' | 'holdReason'>): boolean {
  return state === 'held' && holdReason === 'approval';
}

/** Holds the recipients of a message that wait for their first attempt. `now` is in Unix milliseconds, as everywhere here. */
export async function holdUnapproved(tx: Tx, mail: Mail, now: number): Promise<void> {
  const transitionOf = ({ state }: RecipientRow) => (state === 'ready' ? WAITS : undefined);
  await changeEach(tx, mail, { now, transitionOf });
}

/**
 * Makes the recipients of an approved message due, at the time that the message is scheduled for. One that was to leave earlier is dated
 * now, and tried as long as if it had been accepted now.
 */
export async function releaseApproved(tx: Tx, mail: Mail, now: number): Promise<void> {
  const { id, datedAt: wanted, expiresAt } = mail.message;
  const datedAt = Math.max(wanted, now);
  await redateMessage(tx, { id, datedAt, expiresAt: expiresAt + datedAt - wanted });
  await changeEach(tx, mail, {
    now,
    transitionOf: (recipient) =>
      isUnapproved(recipient) ? { cause: 'approved', dueAt: datedAt } : undefined,
  });
}

/** Cancels the recipients of a message that nobody has approved. `diagnostic` says why. */
export async function cancelUnapproved(
  tx: Tx,
  mail: Mail,
  { now, diagnostic }: { now: number; diagnostic: string },
): Promise<void> {
  await changeEach(tx, mail, {
    now,
    transitionOf: (recipient) => (isUnapproved(recipient) ? { cause: 'canceled', diagnostic } : undefined),
  });
}
