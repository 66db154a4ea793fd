/**
 * Stops the mail of people that may not be sent any more: because its mailbox was deleted or suspended, because the password with which it
 * was held was replaced, or because the operator cancels it. It was accepted before, and may have waited for weeks since.
 */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { MessageRow, RecipientRow } from '../../db/tables.ts';
import { AppError, notFound } from '../../system/errors.ts';
import { getMail } from '../mail-store.ts';
import { findMessage } from '../store.ts';
import { markOfPassword } from '../submitted/credential.ts';
import {
  findWriter,
  hasCredential,
  listCredentialsOfHeld,
  listHeldWith,
  listUnsent,
  type Writer,
} from '../submitted/outbox-store.ts';
import { findSubmitted } from '../submitted/store.ts';
import { isWaiting } from './cancel.ts';
import { changeEach } from './change.ts';
import type { Transition } from './transition.ts';

type MailboxId = MailboxRow['id'];

const DELETED: Transition = { cause: 'canceled', diagnostic: 'The mailbox of the sender was deleted' };
const SUSPENDED: Transition = { cause: 'canceled', diagnostic: 'The mailbox of the sender is suspended' };
const WITHDRAWN: Transition = {
  cause: 'canceled',
  diagnostic: 'The password with which the message was handed in is not valid any more',
};
const BY_OPERATOR: Transition = { cause: 'canceled', diagnostic: 'The operator has canceled the message' };

type DueMessage = Pick<MessageRow, 'id' | 'datedAt' | 'createdAt'> & { mailboxId: MailboxId };

/** Returns the change that due mail of a mailbox gets instead of a claim; undefined when the mailbox may send it. */
export async function findWriterStop(
  tx: Tx,
  { id, mailboxId, datedAt, createdAt }: DueMessage,
): Promise<Transition | undefined> {
  const writer = await findWriter(tx, mailboxId);
  if (writer === undefined) return DELETED;
  if (writer.status === 'suspended') return SUSPENDED;
  const wasHeld = datedAt > createdAt;
  const handedInWith = wasHeld ? (await findSubmitted(tx, id))?.handedInWith : undefined;
  return handedInWith && !(await isValid(tx, writer, handedInWith)) ? WITHDRAWN : undefined;
}

async function isValid(tx: Tx, writer: Writer, handedInWith: string): Promise<boolean> {
  if (handedInWith === markOfPassword(writer)) return writer.passwordLogin === 1;
  return await hasCredential(tx, handedInWith);
}

/**
 * Maximum number of messages that one write cancels, which takes about a tenth of a second. More can only wait when they are held, and the
 * claim cancels those when they are due.
 */
const MAX_CANCELED = 1_000;

type Stop = { mailboxId: MailboxId; now: number };

/** Cancels the waiting mail of a mailbox, as part of the write that deletes the mailbox. `now` is in Unix milliseconds. */
export async function cancelMailOf(tx: Tx, { mailboxId, now }: Stop): Promise<void> {
  const ids = await listUnsent(tx, { mailboxId, limit: MAX_CANCELED });
  await cancelAll(tx, ids, { transition: DELETED, now });
}

/**
 * Cancels the mail that was held with a credential which is not valid any more, as part of the write that replaces or revokes it. Mail
 * that was not held is tried on: it would have left at once, and its writer may be the owner.
 */
export async function cancelWithdrawn(tx: Tx, { mailboxId, now }: Stop): Promise<void> {
  const writer = await findWriter(tx, mailboxId);
  if (!writer) return;
  for (const handedInWith of await listCredentialsOfHeld(tx, mailboxId)) {
    if (await isValid(tx, writer, handedInWith)) continue;
    const ids = await listHeldWith(tx, { mailboxId, handedInWith, limit: MAX_CANCELED });
    await cancelAll(tx, ids, { transition: WITHDRAWN, now });
  }
}

/** Cancels the mail that was held with a credential of a mailbox which is not valid any more, in a write of its own. */
export const cancelWithdrawnMail = defineWrite(
  'queue.cancelWithdrawn',
  (tx, stop: Stop): Promise<void> => cancelWithdrawn(tx, stop),
);

/**
 * Cancels a message of a mailbox for the operator.
 * @throws AppError not_found; invalid_state when none of its recipients waits
 */
export const cancelUnsent = defineWrite(
  'queue.cancelUnsent',
  async (tx, { mailboxId, messageId, now }: Stop & { messageId: string }): Promise<void> => {
    const message = await findMessage(tx, messageId);
    if (message?.mailboxId !== mailboxId) throw notFound('Email');
    if ((await cancelAll(tx, [messageId], { transition: BY_OPERATOR, now })) === 0)
      throw new AppError('invalid_state', 'The email can no longer be canceled: no recipient waits');
  },
);

/** Cancels waiting messages of a mailbox for the operator, and returns their number. There may be more unless it is 0. */
export const cancelSomeUnsent = defineWrite(
  'queue.cancelSomeUnsent',
  async (tx, { mailboxId, now }: Stop): Promise<number> => {
    const ids = await listUnsent(tx, { mailboxId, limit: MAX_CANCELED });
    return await cancelAll(tx, ids, { transition: BY_OPERATOR, now });
  },
);

/** Cancels the waiting recipients of messages, and returns the number of the messages that had some. */
async function cancelAll(
  tx: Tx,
  messageIds: readonly string[],
  { transition, now }: { transition: Transition; now: number },
): Promise<number> {
  let canceled = 0;
  for (const id of messageIds) {
    const mail = await getMail(tx, id);
    const transitionOf = (recipient: RecipientRow) => (isWaiting(recipient) ? transition : undefined);
    if ((await changeEach(tx, mail, { now, transitionOf })) > 0) canceled += 1;
  }
  return canceled;
}
