/** Gives mail back to the mailbox that has sent it on, when it cannot be delivered, nobody else is told, and the mailbox has no copy. */
import type { App } from '../../app.ts';
import type { MailboxDelivery } from '../../mailboxes/delivery.ts';
import { findMailboxByAddress } from '../../mailboxes/store.ts';
import type { SpooledMessage } from '../../queue/store.ts';

/** Address of a notification that is no mail: its message goes to the INBOX of the mailbox that has sent it on. */
export const GIVE_BACK = '';

export type GivingBackApp = App & { mailboxDelivery?: MailboxDelivery };

/**
 * Stores the message in the INBOX of the mailbox, past its scripts. A second run stores nothing more. Returns false when the mailbox or
 * the message was deleted.
 * @throws Error when the mailbox cannot take it now
 */
export async function giveBack(
  { blobs, clock, db, mailboxDelivery }: GivingBackApp,
  { id, blobId, traceFields }: SpooledMessage,
  address: string,
): Promise<boolean> {
  const mailbox = await findMailboxByAddress(db.read, address);
  if (!mailbox || blobId === null || !mailboxDelivery) return false;
  const { sizeBytes, inline, file } = await blobs.open(blobId);
  const content = inline
    ? { sizeBytes, bytes: inline, file: undefined }
    : file && { sizeBytes, bytes: undefined, file };
  if (!content) throw new Error('a blob has neither bytes nor a file');
  const result = await mailboxDelivery.deliver({
    mailboxId: mailbox.id,
    deliveryId: `${id}/back`,
    content,
    prefix: Buffer.from(traceFields ?? '', 'latin1').toString(),
    isJunk: false,
    receivedAt: clock.now(),
  });
  if (result.kind !== 'delivered') throw new Error(result.reason);
  return true;
}
