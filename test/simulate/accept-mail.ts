/** Accepts the mail of a plan, with the write that all mail takes into the queue. */
import { createHash } from 'node:crypto';
import { insertBlob } from '../../src/blobs/store.ts';
import { defineWrite } from '../../src/db/operation.ts';
import type { BlobRow } from '../../src/db/tables.ts';
import { newMessage } from '../../src/queue/new-message.ts';
import { queueKeyOf } from '../../src/queue/queue-key.ts';
import { enqueue } from '../../src/queue/store.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import type { SimulatedDatabase } from './database.ts';
import type { MailPlan } from './plan.ts';

type Accepting = { mail: MailPlan; tenantId: Id<'ten'>; blobId: BlobRow['id']; now: number };

const acceptMail = defineWrite('simulation.accept', async (tx, accepting: Accepting) => {
  const { mail, tenantId, blobId, now } = accepting;
  const { kind, name } = mail;
  const message = newMessage({
    id: newId('em', now),
    tenantId,
    mode: 'live',
    kind,
    sender: `${name}@sender.example`,
    // The envelope sender names the message on the wire.
    returnPath: `${name}@sender.example`,
    utf8: 0,
    requireTls: mail.requireTls ? 1 : 0,
    blobId,
    headerBytes: 18,
    now,
    datedAt: now + (mail.waitsMs ?? 0),
    maxAgeMs: mail.maxAgeMs,
  });
  const recipients = mail.recipients.map(({ address, domain }) => ({
    field: 'to' as const,
    address,
    domain,
    suppressed: null,
  }));
  await enqueue(tx, message, recipients);
  return { ...accepting, id: message.id };
});

const storeContent = defineWrite('simulation.storeContent', (tx, blob: BlobRow) => insertBlob(tx, blob));

/** Adds the tenants and the content. Returns the function that accepts mail and returns the keys of its queues. */
export async function prepareMail(
  database: SimulatedDatabase,
  { tenants, now }: { tenants: readonly string[]; now: number },
): Promise<(mail: MailPlan, now: number) => Promise<string[]>> {
  const tenantIds = new Map(tenants.map((name) => [name, newId('ten', now)]));
  for (const [name, id] of tenantIds)
    await database.commitNow(insertTenant, { id, name, plan: 'unlimited', createdAt: now });
  const blobId = newId('blob', now);
  const sha256 = createHash('sha256').update(blobId).digest('hex');
  const data = Buffer.from('x');
  await database.commitNow(storeContent, {
    id: blobId,
    sha256,
    sizeBytes: 1,
    eightBit: 0,
    data,
    createdAt: now,
  });
  return async (mail, acceptedAt) => {
    const tenantId = tenantIds.get(mail.tenant)!;
    await database.commitNow(acceptMail, { mail, tenantId, blobId, now: acceptedAt });
    const { kind } = mail;
    const domains = new Set(mail.recipients.map(({ domain }) => domain));
    return [...domains].map((domain) => queueKeyOf({ mode: 'live', kind, tenantId }, domain));
  };
}
