/** Stores a message in the folders that its scripts name, once in each. */
import type { DeliveredContent, DeliveryResult } from '../../../mailboxes/delivery.ts';
import type { ScriptApp, ScriptedDelivery } from './delivery.ts';
import { withEdited } from './edited-message.ts';
import type { Filing } from './plan.ts';

/**
 * Stores the message. Each folder has a delivery id of its own, so that a second run stores nothing more; the first one has that of a
 * delivery without scripts.
 */
export async function fileMessage(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  filings: readonly Filing[],
): Promise<DeliveryResult> {
  for (const [index, filing] of filings.entries()) {
    const result = await fileInto(app, delivery, { filing, index, isOneOfSeveral: filings.length > 1 });
    if (result.kind !== 'delivered') return result;
  }
  return { kind: 'delivered' };
}

async function fileInto(
  { mailboxDelivery }: ScriptApp,
  delivery: ScriptedDelivery,
  { filing, index, isOneOfSeveral }: { filing: Filing; index: number; isOneOfSeveral: boolean },
): Promise<DeliveryResult> {
  const { mailbox, message, deliveryId, prefix } = delivery;
  const { header, isDefault, ...target } = filing;
  const store = (content: DeliveredContent, fields: string) =>
    mailboxDelivery.deliver({
      mailboxId: mailbox.id,
      deliveryId: index === 0 ? deliveryId : `${deliveryId}/${index}`,
      content,
      prefix: fields,
      isJunk: isDefault && message.flagged === 1,
      receivedAt: message.createdAt,
      target,
      ...(isOneOfSeveral && { sharedId: deliveryId }),
    });
  if (header === null) return await store(contentOf(delivery), prefix);
  // The script has seen the fields of this mailbox, and may have changed them.
  return await withEdited(delivery, Buffer.from(header, 'base64'), (bytes) => store(wholeBytes(bytes), ''));
}

function contentOf({ content }: ScriptedDelivery): DeliveredContent {
  const { sizeBytes, inline, file } = content;
  if (inline) return { sizeBytes, bytes: inline, file: undefined };
  if (file) return { sizeBytes, bytes: undefined, file };
  throw new Error('a blob has neither bytes nor a file');
}

function wholeBytes(bytes: Buffer): DeliveredContent {
  return { sizeBytes: bytes.length, bytes, file: undefined };
}
