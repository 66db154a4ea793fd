/** Gives mail back to the mailbox that has sent it on, when it cannot be delivered, nobody else gets a report, and the mailbox has no copy. */

import type { MailboxDelivery } from '../../accounts/delivery.ts';
import type { App } from '../../app.ts';
import { findMailboxById } from '../../mailboxes/store.ts';
import type { SpooledMessage } from '../../queue/store.ts';
import { errorMessage } from '../../system/errors.ts';
import { isId } from '../../system/ids.ts';

/** Address of a notification that is no mail: its message goes to the INBOX of the mailbox that has sent it on, which `recipient` has the id of. */
export const GIVE_BACK = '';

export type GivingBackApp = App & { mailboxDelivery?: MailboxDelivery };

/** `waiting` means that the mailbox cannot take the message now; the reason is for the operator. */
type GivenBack = { result: 'given_back' | 'deleted' } | { result: 'waiting'; reason: string };

/**
 * Stores the message in the INBOX of the mailbox with this id, past its scripts and its quota. A second run stores nothing more.
 * @throws DamagedBlobError
 */
export async function giveBack(
  { blobs, clock, db, mailboxDelivery }: GivingBackApp,
  { id, blobId, traceFields }: SpooledMessage,
  mailboxId: string,
): Promise<GivenBack> {
  const mailbox = isId('mbx', mailboxId) ? await findMailboxById(db.read, mailboxId) : undefined;
  if (!mailbox || blobId === null) return { result: 'deleted' };
  if (!mailboxDelivery) return { result: 'waiting', reason: 'No mailbox can be opened' };
  const { sizeBytes, inline, file } = await blobs.open(blobId);
  const content = inline
    ? { sizeBytes, bytes: inline, file: undefined }
    : file && { sizeBytes, bytes: undefined, file };
  if (!content) throw new Error('a blob has neither bytes nor a file');
  try {
    const answer = await mailboxDelivery.deliver({
      mailboxId: mailbox.id,
      deliveryId: `${id}/back`,
      content,
      prefix: Buffer.from(traceFields ?? '', 'latin1').toString(),
      isJunk: false,
      receivedAt: clock.now(),
    });
    if (answer.kind === 'delivered') return { result: 'given_back' };
    return { result: 'waiting', reason: answer.reason };
  } catch (error) {
    // No failure of a mailbox ends the message, not even one that nobody has thought of: it was accepted.
    return { result: 'waiting', reason: errorMessage(error) };
  }
}
