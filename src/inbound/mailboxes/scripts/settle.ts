/**
 * Settles a delivery with scripts: in one transaction the task ends, what the scripts send enters the queue, and what they remember is
 * stored. No crash sends anything twice or never.
 */
import { insertBlob } from '../../../blobs/store.ts';
import type { ScriptMemoryRow } from '../../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../../db/operation.ts';
import type { MemoryKey } from '../../../mailboxes/scripts/memory-key.ts';
import { claimMemory } from '../../../mailboxes/scripts/memory-store.ts';
import { insertNotification } from '../../../queue/notifications/store.ts';
import { enqueue } from '../../../queue/store.ts';
import { insertSubmitted } from '../../../queue/submitted/store.ts';
import { type Settlement, settleLeased } from '../../tasks/store.ts';
import type { BuiltMail } from './outgoing.ts';
import { deletePlan } from './plan-store.ts';

type Delivered = {
  settlement: Settlement;
  /** The mailbox, and the delivery that claims what it remembers. */
  claimant: Pick<ScriptMemoryRow, 'mailboxId' | 'claimedBy'>;
  built: readonly BuiltMail[];
  remembered: readonly { key: MemoryKey; expiresAt: number }[];
};

/** Settles the delivery. Returns false, and changes nothing, when the lease of the task is no longer valid. */
export const settleDelivery = defineWrite(
  'inbound.settleDelivery',
  async (tx, { settlement, claimant, built, remembered }: Delivered): Promise<boolean> => {
    if (!(await settleLeased(tx, settlement))) return false;
    await deletePlan(tx, settlement.id);
    for (const memory of remembered) await claimMemory(tx, { ...claimant, ...memory, now: settlement.now });
    for (const mail of built) await queueMail(tx, mail, { ...claimant, now: settlement.now });
    return true;
  },
  { crashPoints: { beforeCommit: 'script-settle-before-commit', afterCommit: 'script-settle-after-commit' } },
);

async function queueMail(
  tx: Tx,
  built: BuiltMail,
  claimant: Delivered['claimant'] & { now: number },
): Promise<void> {
  if (built.kind === 'redirect') {
    const { message, recipients, notification } = built.forward;
    if (built.blob) await insertBlob(tx, built.blob);
    await enqueue(tx, message, recipients);
    if (notification) await insertNotification(tx, notification);
    return;
  }
  const { mail, claim } = built;
  // Another delivery may have answered the same sender in the meantime.
  if (claim && !(await claimMemory(tx, { ...claimant, ...claim }))) return;
  await insertBlob(tx, mail.blob);
  await enqueue(tx, mail.message, mail.recipients);
  // The row has the message deleted once it has reached its end.
  const { id: messageId, tenantId, mailboxId } = mail.message;
  const { sizeBytes } = mail.blob;
  if (mailboxId !== null)
    await insertSubmitted(tx, { messageId, tenantId, mailboxId, sizeBytes, dueAt: null });
}
