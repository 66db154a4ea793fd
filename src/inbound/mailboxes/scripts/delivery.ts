/** The types that every step of a delivery with scripts receives. */
import type { App } from '../../../app.ts';
import type { BlobContent } from '../../../blobs/blobs.ts';
import type { ReceivedMessageRow } from '../../../db/inbound-tables.ts';
import type { MailboxRow } from '../../../db/mailbox-tables.ts';
import type { HeaderField } from '../../../mail/message/header-block.ts';
import type { MailboxDelivery, MailboxTargets } from '../../../mailboxes/delivery.ts';
import type { ScriptRunner } from '../../../mailboxes/scripts/runner.ts';
import type { LeasedTask } from '../../tasks/store.ts';

export type ScriptApp = App & {
  mailboxDelivery: MailboxDelivery & MailboxTargets;
  scriptRunner: Pick<ScriptRunner, 'run'>;
};

export type ScriptedDelivery = {
  task: LeasedTask;
  mailbox: MailboxRow;
  message: ReceivedMessageRow & { blobId: NonNullable<ReceivedMessageRow['blobId']> };
  /** Address of the envelope for which the message is delivered. */
  recipient: string;
  /** Addresses of the owner: that of the mailbox, its aliases, and the recipient. */
  ownAddresses: readonly string[];
  /** Id of the delivery, which is the same for each of its runs. */
  deliveryId: string;
  content: BlobContent;
  /** Header of the message as it was received, with its empty line. */
  header: Buffer;
  /** Fields that were added for this mailbox, each with its CRLF. */
  prefix: string;
  fields: readonly HeaderField[];
};
