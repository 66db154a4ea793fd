/**
 * Changes recipients. Every change of a recipient's state goes through `changeRecipients`, which keeps the status of the email, the
 * events, the counters and the ledger of its broadcast consistent with it.
 */
import { withdrawApproval } from '../../approvals/store.ts';
import { storeTally } from '../../counts/store.ts';
import { Tally } from '../../counts/tally.ts';
import type { Tx } from '../../db/operation.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { recordOutcome } from '../../ledger/store.ts';
import type { Mail } from '../mail-store.ts';
import { aggregateStatus, isEnded } from '../status.ts';
import { type SpooledMessage, updateMessage, updateRecipient } from '../store.ts';
import { makeSubmittedDue } from '../submitted/store.ts';
import { recordRecipientEvent } from './recipient-event.ts';
import { effectOf, type Transition } from './transition.ts';

/** A change of one recipient of the mail. The recipient is an element of the mail's own list. */
export type Change = { recipient: RecipientRow; transition: Transition };

/** A message after a change, with the recipients that were changed, in the order of the changes. */
type Changed = { message: SpooledMessage; recipients: RecipientRow[] };

type Changing = {
  now: number;
  changes: readonly Change[];
  /** The signature that the message has from now on; by default the one that it has. */
  signature?: SpooledMessage['signature'];
};

/**
 * Changes recipients of one message, as part of a write: the rows of those recipients, their events, and once the
 * message with the status that follows from all recipients. Every change of a recipient's state goes through this
 * function. The times of a message's events strictly increase, so that their order is the order of what happened.
 */
export async function changeRecipients(
  tx: Tx,
  { message: before, recipients, others }: Mail,
  { now, changes, signature = before.signature }: Changing,
): Promise<Changed> {
  const tally = new Tally();
  const changed = new Map<RecipientRow, RecipientRow>();
  let { lastEventAt } = before;
  for (const { recipient, transition } of changes) {
    const { patch, events } = effectOf(transition, { recipient, expiresAt: before.expiresAt, now });
    for (const event of events) {
      lastEventAt = Math.max(now, lastEventAt + 1);
      // The mail of people is no email of the API: it has no events, and counts in no figures.
      if (before.mailboxId === null)
        await recordRecipientEvent(tx, before, { to: recipient.address, event, at: lastEventAt, tally });
    }
    const after = await updateRecipient(tx, recipient, events.length > 0 ? { ...patch, lastEventAt } : patch);
    changed.set(recipient, after);
    if (before.broadcastId !== null)
      await recordOutcome(tx, before, ledgerChange(recipient, { after, transition, now }));
  }
  const states = recipients.map((recipient) => changed.get(recipient) ?? recipient);
  const status = aggregateStatus([...states, ...others]);
  const message = await updateMessage(tx, before, { status, lastEventAt, signature });
  await storeTally(tx, tally);
  const after = [...changed.values()];
  const { mailboxId } = message;
  if (mailboxId !== null && after.some(({ state }) => isEnded(state)))
    await makeSubmittedDue(tx, { ...message, mailboxId }, now);
  const isAllEnded = [...states, ...others].every(({ state }) => isEnded(state));
  if (isAllEnded && changes.some(({ recipient }) => recipient.holdReason === 'approval'))
    await withdrawApproval(tx, message.id, now);
  return { message, recipients: after };
}

/**
 * Changes the recipients of a message for which `transitionOf` returns a transition, as part of a write. Returns their
 * number.
 */
export async function changeEach(
  tx: Tx,
  mail: Mail,
  { now, transitionOf }: { now: number; transitionOf: (recipient: RecipientRow) => Transition | undefined },
): Promise<number> {
  const changes = mail.recipients.flatMap((recipient) => {
    const transition = transitionOf(recipient);
    return transition ? [{ recipient, transition }] : [];
  });
  if (changes.length > 0) await changeRecipients(tx, mail, { now, changes });
  return changes.length;
}

/** Returns what the ledger of a broadcast follows of a change. `before` is the recipient as it was. */
function ledgerChange(
  before: RecipientRow,
  { after, transition, now }: { after: RecipientRow; transition: Transition; now: number },
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
