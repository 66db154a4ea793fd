/** Derives the status of an email from the states of its recipients. */
import type { EmailStatus, RecipientRow, RecipientState } from '../db/tables.ts';

const OPEN: readonly RecipientState[] = ['ready', 'in_flight', 'deferred', 'held'];

/** Returns true for a state in which a recipient is tried no more. */
export function isEnded(state: RecipientState): boolean {
  return !OPEN.includes(state);
}

/** Returns the status of an email whose recipients have these states. */
export function aggregateStatus(
  recipients: readonly Pick<RecipientRow, 'state' | 'attempts'>[],
): EmailStatus {
  const some = (...states: RecipientState[]) =>
    recipients.some((recipient) => states.includes(recipient.state));
  if (some('canceled') && recipients.every(({ state }) => state === 'canceled' || state === 'suppressed'))
    return 'canceled';
  if (some('complained')) return 'complained';
  if (some(...OPEN) && recipients.every((recipient) => recipient.attempts === 0)) return 'queued';
  if (some('delivered')) return 'delivered';
  return some(...OPEN) ? 'sent' : 'bounced';
}

/** Returns the state of a recipient by its public name. The names of the spool are internal. */
export function recipientStatus(recipient: Pick<RecipientRow, 'state' | 'attempts'>) {
  switch (recipient.state) {
    case 'ready':
      return recipient.attempts === 0 ? 'queued' : 'deferred';
    case 'in_flight':
      return 'sent';
    case 'deferred':
    case 'held':
    case 'delivered':
    case 'bounced':
    case 'complained':
    case 'suppressed':
    case 'canceled':
      return recipient.state;
  }
}
