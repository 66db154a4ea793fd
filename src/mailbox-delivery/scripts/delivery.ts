/** The types that every step of a delivery with scripts receives. */

import type { MailboxDelivery, MailboxTargets } from '../../accounts/delivery.ts';
import type { App } from '../../app.ts';
import type { BlobContent } from '../../blobs/blobs.ts';
import type { NamedRecipient, ReceivedMessageRow } from '../../db/inbound-tables.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { RunningReceivedTask } from '../../inbound/tasks/kind.ts';
import { MAX_HEADER_BYTES } from '../../mail/header-limits.ts';
import { type HeaderField, readFields } from '../../mail/message/header-block.ts';
import type { ScriptRunner } from '../../mailboxes/scripts/runner.ts';

/** The parts of the app that run scripts. */
export type DecidingApp = App & {
  mailboxDelivery: MailboxTargets;
  scriptRunner: Pick<ScriptRunner, 'run'>;
};

export type ScriptApp = DecidingApp & { mailboxDelivery: MailboxDelivery };

/** A message as the scripts of a mailbox see it. */
export type ScriptedMessage = {
  mailbox: MailboxRow;
  message: Pick<ReceivedMessageRow, 'sender' | 'spamScore' | 'remoteAddress'>;
  /** Address of the envelope for which the message is delivered. */
  recipient: string;
  content: Pick<BlobContent, 'sizeBytes' | 'chunks'>;
  /** Header of the message as it was received, with its empty line. */
  header: Buffer;
  /** Fields that were added for this mailbox, each with its CRLF. */
  prefix: string;
};

export type ScriptedDelivery = ScriptedMessage & {
  task: RunningReceivedTask;
  /** The recipients that the sender named and that are this mailbox, with what it wants to be told about them. */
  named: readonly NamedRecipient[];
  message: ReceivedMessageRow & { blobId: NonNullable<ReceivedMessageRow['blobId']> };
  content: BlobContent;
  /** Id of the delivery, which is the same for each of its runs. */
  deliveryId: string;
};

const HEADER_END = Buffer.from('\r\n\r\n');

/** Returns the header of a message with its empty line. A message without a body ends with its header. */
export async function readHeader(content: ScriptedMessage['content']): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  for await (const chunk of content.chunks()) {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const end = head.indexOf(HEADER_END);
    if (end >= 0) return head.subarray(0, end + HEADER_END.length);
    if (head.length > MAX_HEADER_BYTES) break;
  }
  return head;
}

/** Returns the fields of the header. Most scripts read some of them in their own thread, so they are decoded only where they are needed. */
export function fieldsOf({ header }: Pick<ScriptedMessage, 'header'>): HeaderField[] {
  return readFields(header, { start: 0, end: header.length });
}
