/** The write that accepts the message of a person completely or not at all. */
import { insertBlob } from '../blobs/store.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { BlobRow, MessageRow } from '../db/tables.ts';
import { acceptOnce, type IdempotencyClaim, type IdempotencyOwner } from '../emails/idempotency/store.ts';
import { enqueue, type NewRecipient } from '../queue/store.ts';
import type { HandedInWith } from '../queue/submitted/credential.ts';
import { insertSubmitted } from '../queue/submitted/store.ts';
import { countRecipients, type Limits, requireSpaceOfTenant } from './limits/limits.ts';

type Accepting = {
  blob: BlobRow;
  message: MessageRow;
  mailbox: Pick<MailboxRow, 'id' | 'address' | 'tenantId'>;
  handedInWith: HandedInWith;
  recipients: readonly NewRecipient[];
  /** Hash of the address of each recipient (limits/limits.ts). */
  addressHashes: readonly string[];
  limits: Limits;
  /** Time at which a delay is first reported to the writer, in Unix milliseconds; null for a message that is never reported. */
  firstCheckAt: number | null;
  /** Claim with which the message is accepted once, however often it is handed over; undefined for a message without one. */
  once: { owner: IdempotencyOwner; claim: IdempotencyClaim } | undefined;
};

/**
 * Queues the message of a person, and counts its recipients. Returns the id of the message, or of the one that was accepted earlier with the
 * same claim.
 * @throws AppError rate_limited, quota_exceeded
 */
export const acceptSubmitted = defineWrite(
  'submission.accept',
  async (tx, { once, ...accepting }: Accepting): Promise<string> => {
    if (!once) return accept(tx, accepting);
    const { response } = await acceptOnce(tx, once, async () => ({ id: await accept(tx, accepting) }));
    return response.id;
  },
  { crashPoints: { beforeCommit: 'submission-before-commit', afterCommit: 'submission-after-commit' } },
);

async function accept(
  tx: Tx,
  {
    blob,
    message,
    mailbox,
    handedInWith,
    recipients,
    addressHashes,
    limits,
    firstCheckAt,
  }: Omit<Accepting, 'once'>,
): Promise<string> {
  const { id: messageId, tenantId, createdAt: now } = message;
  const { sizeBytes } = blob;
  const { id: mailboxId } = mailbox;
  await requireSpaceOfTenant(tx, tenantId, sizeBytes);
  await countRecipients(tx, { mailbox, addressHashes, limits, now });
  await insertBlob(tx, blob);
  await enqueue(tx, message, recipients);
  const dueAt = firstCheckAt;
  await insertSubmitted(tx, { messageId, tenantId, mailboxId, handedInWith, sizeBytes, dueAt });
  return messageId;
}
