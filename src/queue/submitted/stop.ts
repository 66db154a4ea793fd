/**
 * Stops the mail of people whose mailbox may not send any more. It was accepted before, and may have waited for weeks since.
 */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import type { RecipientState } from '../../db/tables.ts';
import { changeRecipients, getMail } from '../state/change.ts';
import type { Transition } from '../state/transition.ts';
import { findStatusOfMailbox, listUnsent } from './store.ts';

type MailboxId = MailboxRow['id'];

const DELETED: Transition = { cause: 'canceled', diagnostic: 'The mailbox of the sender was deleted' };
const SUSPENDED: Transition = { cause: 'canceled', diagnostic: 'The mailbox of the sender is suspended' };

/** Returns the change that due mail of a mailbox gets instead of a claim; undefined when the mailbox may send. */
export async function findWriterStop(tx: Tx, mailboxId: MailboxId): Promise<Transition | undefined> {
  const status = await findStatusOfMailbox(tx, mailboxId);
  if (status === undefined) return DELETED;
  return status === 'suspended' ? SUSPENDED : undefined;
}

/**
 * Maximum number of messages that one write cancels, which takes about a tenth of a second. More can only wait when they are held, and the
 * claim cancels those when they are due. Our own limit.
 */
const MAX_CANCELED = 1_000;
/** The open states but `in_flight`, in which a server may have the message already. */
const WAITING: readonly RecipientState[] = ['ready', 'deferred', 'held'];

/** Cancels the waiting mail of a mailbox, as part of the write that deletes the mailbox. `now` is in Unix milliseconds. */
export async function cancelMailOf(
  tx: Tx,
  { mailboxId, now }: { mailboxId: MailboxId; now: number },
): Promise<void> {
  for (const id of await listUnsent(tx, mailboxId, MAX_CANCELED)) {
    const mail = await getMail(tx, id);
    const waiting = mail.recipients.filter(({ state }) => WAITING.includes(state));
    const changes = waiting.map((recipient) => ({ recipient, transition: DELETED }));
    await changeRecipients(tx, mail, { now, changes });
  }
}
