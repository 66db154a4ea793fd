/**
 * Decides at RCPT whether a mailbox takes another message. A full mailbox is refused here alone: its quota is not compared again when the
 * message is delivered.
 */
import type { ReceivedRecipientRow } from '../db/inbound-tables.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import type { MailboxQuota } from './quota.ts';

type Refusal = { code: 450 | 452 | 550; status: string; text: string };

/**
 * Returns the refusal of a recipient that is a mailbox; undefined when it takes the message, and for other recipients. A message whose
 * size the client has not declared counts as empty.
 */
export async function refusalOfMailbox(
  { db: { read }, directory }: { db: { read: Tx }; directory: Pick<MailboxQuota, 'isWithinQuota'> },
  { kind, targetId }: Pick<ReceivedRecipientRow, 'kind' | 'targetId'>,
  sizeBytes = 0,
): Promise<Refusal | undefined> {
  if (kind !== 'mailbox') return undefined;
  const mailbox = await findMailboxById(read, targetId as MailboxRow['id']);
  if (!mailbox) return { code: 550, status: '5.1.1', text: 'there is no such recipient here' };
  // A suspension can end, so the client keeps the message and tries again (RFC 3463 section 3.3).
  if (mailbox.status === 'suspended')
    return { code: 450, status: '4.2.1', text: 'the mailbox takes no mail at the moment' };
  if (await directory.isWithinQuota(mailbox, sizeBytes)) return undefined;
  return { code: 452, status: '4.2.2', text: 'the mailbox is full' };
}
