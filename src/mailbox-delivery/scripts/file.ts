/** Stores a message in the folders that its scripts name, once in each. */

import type { DeliveredContent, DeliveryResult } from '../../accounts/delivery.ts';
import type { BlobContent } from '../../blobs/blobs.ts';
import { discardAll } from '../../blobs/discard-on-refusal.ts';
import type { ScriptApp, ScriptedDelivery } from './delivery.ts';
import { EditedMessages } from './edited-message.ts';
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
  const edited = new EditedMessages(app.blobs, delivery);
  try {
    for (const [index, filing] of filings.entries()) {
      const shared = filings.length > 1 && { sharedId: delivery.deliveryId };
      const content = await contentOf(app, delivery, { edited, header: filing.header });
      const result = await app.mailboxDelivery.deliver({
        ...requestOf(delivery, filing),
        ...content,
        deliveryId: index === 0 ? delivery.deliveryId : `${delivery.deliveryId}/${index}`,
        ...shared,
      });
      if (result.kind !== 'delivered') return result;
    }
    return { kind: 'delivered' };
  } finally {
    // The mailbox has bytes of its own, or a link to the file.
    await discardAll(app.blobs, edited.rows);
  }
}

function requestOf(
  { mailbox, message }: ScriptedDelivery,
  { header: _header, isDefault, ...target }: Filing,
) {
  return {
    mailboxId: mailbox.id,
    isJunk: isDefault && message.flagged === 1,
    receivedAt: message.createdAt,
    target,
  };
}

/** Returns the bytes that are stored. A script that edits the header has seen the fields of this mailbox, and may have moved them. */
async function contentOf(
  { blobs }: ScriptApp,
  { content, prefix }: ScriptedDelivery,
  { edited, header }: { edited: EditedMessages; header: string | null },
): Promise<{ content: DeliveredContent; prefix: string }> {
  if (header === null) return { content: deliveredContent(content), prefix };
  const row = await edited.prepare(Buffer.from(header, 'base64'));
  return { content: deliveredContent(blobs.openPrepared(row)), prefix: '' };
}

function deliveredContent({ sizeBytes, inline, file }: BlobContent): DeliveredContent {
  if (inline) return { sizeBytes, bytes: inline, file: undefined };
  if (file) return { sizeBytes, bytes: undefined, file };
  throw new Error('a blob has neither bytes nor a file');
}
