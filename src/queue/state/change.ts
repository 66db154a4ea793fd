/**
 * Changes recipients. Every change of a recipient's state goes through `changeRecipients`, which keeps the status of the email, the
 * events, the counters and the ledger of its broadcast consistent with it.
 */
import { storeTally } from '../../counts/store.ts';
import { Tally } from '../../counts/tally.ts';
import type { Tx } from '../../db/operation.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { recordOutcome } from '../../ledger/store.ts';
import type { Mail } from '../mail-store.ts';
import { aggregateStatus, isEnded } from '../status.ts';
import { updateMessage, updateRecipient } from '../store.ts';
import { makeSubmittedDue } from '../submitted/store.ts';
import { recordRecipientEvent } from './recipient-event.ts';
import { effectOf, type Transition } from './transition.ts';

/** A change of one recipient of the mail. The recipient is an element of the mail's own list. */
export type Change = { recipient: RecipientRow; transition: Transition };

/**
 * Changes recipients of one message, as part of a write: the rows of those recipients, their events, and once the
 * message with the status that follows from all recipients. Every change of a recipient's state goes through this
 * function. The times of a message's events strictly increase, so that their order is the order of what happened.
 */
export async function changeRecipients(
  tx: Tx,
  { message, recipients, others }: Mail,
  { now, changes }: { now: number; changes: readonly Change[] },
): Promise<void> {
  const { expiresAt } = message;
  const tally = new Tally();
  for (const { recipient, transition } of changes) {
    const { patch, events } = effectOf(transition, { recipient, expiresAt, now });
    const { state, attempts } = recipient;
    Object.assign(recipient, patch);
    for (const event of events) {
      const at = Math.max(now, message.lastEventAt + 1);
      message.lastEventAt = at;
      recipient.lastEventAt = at;
      // The mail of people is no email of the API: it has no events, and counts in no figures.
      if (message.mailboxId === null)
        await recordRecipientEvent(tx, message, { to: recipient.address, event, at, tally });
    }
    await updateRecipient(tx, recipient);
    if (message.broadcastId !== null)
      await recordOutcome(tx, message, ledgerChange({ state, attempts }, { recipient, transition, now }));
  }
  message.status = aggregateStatus([...recipients, ...others]);
  await updateMessage(tx, message);
  await storeTally(tx, tally);
  if (message.mailboxId !== null && changes.some(({ recipient }) => isEnded(recipient.state)))
    await makeSubmittedDue(tx, message.id, now);
}

/** Returns what the ledger of a broadcast follows of a change. `before` is the recipient as it was. */
function ledgerChange(
  before: Pick<RecipientRow, 'state' | 'attempts'>,
  { recipient: after, transition, now }: Change & { now: number },
): Parameters<typeof recordOutcome>[2] {
  const { cause } = transition;
  return {
    now,
    before,
    after,
    diagnostic: after.diagnostic,
    exclusion: cause === 'suppressed' ? transition : undefined,
    hasBouncedPermanently:
      (cause === 'bounced' || cause === 'bounced-later') && transition.bounce === 'permanent',
  };
}
