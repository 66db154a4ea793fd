/**
 * Settles a delivery with scripts: in one transaction the task ends, what the scripts send enters the queue, and what they remember is
 * stored. No crash sends anything twice or never.
 */
import { insertBlob } from '../../blobs/store.ts';
import type { ScriptMemoryRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { BlobRow } from '../../db/tables.ts';
import { scheduleSenderReport } from '../../inbound/sender-reports.ts';
import { type Settlement, settleReceived, type TaskId } from '../../inbound/tasks/store.ts';
import type { MemoryKey } from '../../mailboxes/scripts/memory-key.ts';
import { claimMemory } from '../../mailboxes/scripts/memory-store.ts';
import { insertNotification } from '../../queue/notifications-store.ts';
import { enqueue } from '../../queue/store.ts';
import { insertSubmitted } from '../../queue/submitted/store.ts';
import { AppError } from '../../system/errors.ts';
import type { TaskEnd } from '../../tasks/store.ts';
import { type BuiltMail, blobsOf } from './built-mail.ts';
import { countRecipients, limitOf } from './limit.ts';
import { deletePlan } from './plan-store.ts';

type Delivered = {
  settlement: Settlement;
  /** The mailbox, and the delivery that claims what it remembers. */
  claimant: Pick<ScriptMemoryRow, 'mailboxId' | 'claimedBy'>;
  /** The mailbox as what it sends is counted. */
  sender: Pick<Parameters<typeof countRecipients>[1], 'mailbox' | 'maxOfTenant'>;
  built: readonly BuiltMail[];
  remembered: readonly { key: MemoryKey; expiresAt: number }[];
  /** The report that the sender of the message gets; undefined when there is none. */
  report: Omit<Parameters<typeof scheduleSenderReport>[1], 'dueAt'> | undefined;
};

/**
 * Settles the delivery. When the answer is `stale`, the task was no longer leased to the run, and nothing has changed.
 * @throws AppError rate_limited when other deliveries have used up how much the mailbox may send on
 */
export const settleDelivery = defineWrite(
  'inbound.settleDelivery',
  async (tx, { settlement, claimant, sender, built, remembered, report }: Delivered): Promise<TaskEnd> => {
    const end = await settleReceived(tx, settlement);
    if (end === 'stale') return end;
    if (report) await scheduleSenderReport(tx, { ...report, dueAt: settlement.now });
    await deletePlan(tx, settlement.lease.reference as TaskId);
    for (const memory of remembered) await claimMemory(tx, { ...claimant, ...memory, now: settlement.now });
    const stored = new Set<BlobRow['id']>();
    for (const mail of built) {
      if (!(await mayQueue(tx, mail, { claimant, sender, now: settlement.now }))) continue;
      for (const blob of blobsOf(mail)) {
        if (!stored.has(blob.id)) await insertBlob(tx, blob);
        stored.add(blob.id);
      }
      await queueMail(tx, mail);
    }
    return end;
  },
  { crashPoints: { beforeCommit: 'script-settle-before-commit', afterCommit: 'script-settle-after-commit' } },
);

/** Claims what a mail needs. Returns false for one that is left out. */
async function mayQueue(
  tx: Tx,
  built: BuiltMail,
  { claimant, sender, now }: Pick<Delivered, 'claimant' | 'sender'> & { now: number },
): Promise<boolean> {
  const { recipients } = built.kind === 'redirect' ? built.forward : built.mail;
  const claim = built.kind === 'redirect' ? undefined : built.claim;
  // Another delivery may have answered the same sender in the meantime.
  if (claim && !(await claimMemory(tx, { ...claimant, ...claim, now }))) return false;
  const sending = { ...sender, limit: limitOf(built.kind), recipients: recipients.length, now };
  if (await countRecipients(tx, sending)) return true;
  if (built.kind !== 'redirect') return false;
  // The message is not kept, so it must not be left out. The delivery runs again, and then keeps it.
  throw new AppError('rate_limited', 'The mailbox has sent on too much mail');
}

async function queueMail(tx: Tx, built: BuiltMail): Promise<void> {
  if (built.kind === 'redirect') {
    const { message, recipients, notification } = built.forward;
    await enqueue(tx, message, recipients);
    if (notification) await insertNotification(tx, notification);
    return;
  }
  const { message, recipients, blob } = built.mail;
  await enqueue(tx, message, recipients);
  // The row has the message deleted once it has reached its end.
  const { id: messageId, tenantId, mailboxId } = message;
  const { sizeBytes } = blob;
  if (mailboxId !== null)
    await insertSubmitted(tx, {
      messageId,
      tenantId,
      mailboxId,
      sizeBytes,
      handedInWith: null,
      dueAt: null,
    });
}
