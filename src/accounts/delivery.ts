/** The interface between what receives mail and the mailboxes that store it. */
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Target } from '../mail/sieve/actions.ts';
import type { Annotations, Folder } from '../mail/sieve/run/account.ts';

/** The bytes of a message, or a file with them that nobody changes and that may be linked. */
export type DeliveredContent = { sizeBytes: number } & (
  | { bytes: Uint8Array; file: undefined }
  | { bytes: undefined; file: { path: string; sha256: string } }
);

export type DeliveryRequest = {
  mailboxId: MailboxRow['id'];
  /** Identifies the delivery: a mailbox stores a message once for each id, which it knows for 90 days. Mail is tried for some days. */
  deliveryId: string;
  content: DeliveredContent;
  /** Header fields of this recipient with their CRLFs, which stand before the content. */
  prefix: string;
  /** True for a message that goes to the folder for spam, unless the target names another one. */
  isJunk: boolean;
  /** Time of arrival in Unix milliseconds. */
  receivedAt: number;
  /** The folder and the flags that a script has chosen. */
  target?: Target;
  /** Id that the deliveries of a message to several targets share, so that a folder to which several of them lead stores it once. */
  sharedId?: string;
};

/**
 * Result of a delivery. `delivered` means that the message is on disk, now or since an earlier call. `waiting` means that the mailbox
 * cannot take it at the moment, because it is damaged or busy or the disk is full; the reason is for the operator.
 */
export type DeliveryResult = { kind: 'delivered' } | { kind: 'waiting'; reason: string };

export type MailboxDelivery = {
  /** Stores a message. A full mailbox takes it too: the quota of received mail was compared before it was accepted, and reports are small. */
  deliver(request: DeliveryRequest): Promise<DeliveryResult>;
};

export type MailboxTargets = {
  /**
   * Returns the folders of a mailbox, for scripts that ask.
   * @throws AppError unavailable when the mailbox is damaged or busy; not_found
   */
  listTargets(mailboxId: MailboxRow['id']): Promise<Folder[]>;
  /**
   * Returns the annotations of a folder, or of the server where the name is empty; none for a folder that does not exist.
   * @throws AppError unavailable when the mailbox is damaged or busy; not_found
   */
  readAnnotations(mailboxId: MailboxRow['id'], folder: string): Promise<Annotations['entries']>;
};
