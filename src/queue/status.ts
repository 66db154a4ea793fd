/** From the truth of each recipient to the one status of an email (api.md 1.3). */
import type { EmailStatus, RecipientRow, RecipientState } from '../db/tables.ts';

const OPEN: readonly RecipientState[] = ['ready', 'in_flight', 'deferred', 'held'];

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

/** A recipient as the API names its state: the spool's own words stay inside. */
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
