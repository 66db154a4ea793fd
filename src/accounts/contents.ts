/** The interface between commands that import and export mail and the mailboxes that store it. */
import type { MailboxRow } from '../db/mailbox-tables.ts';

type MailboxId = MailboxRow['id'];

/** A message to add. Flags are in the spelling of IMAP. */
export type AddedMessage = {
  /** Identifies the message for ever: a mailbox stores it once. */
  deliveryId: string;
  flags: readonly string[];
  /** INTERNALDATE in Unix milliseconds. */
  receivedAt: number;
  /** The bytes, or a durable file with them, which is linked where that is possible and stays. */
  content: Uint8Array | { path: string; sha256: string };
  /** Further ids that are known once the message is stored. It is stored whether they were known before or not. */
  otherIds?: readonly string[];
};

/** A folder with its decoded name. */
export type ListedFolder = { name: string; uidValidity: number; messageCount: number };

/** A stored message. The content has the header fields that this recipient alone has. */
export type StoredMessage = {
  uid: number;
  flags: readonly string[];
  /** INTERNALDATE in Unix milliseconds. */
  receivedAt: number;
  content: Uint8Array;
};

/** Number of messages that were added, and of those among them that are without their keywords, since the mailbox has too many. */
export type ImportResult = { added: number; withoutKeywords: number };

export type MailboxContents = {
  /** Returns those of the delivery ids whose messages a mailbox has not stored. */
  findMissing(mailboxId: MailboxId, deliveryIds: readonly string[]): Promise<string[]>;
  /**
   * Adds messages to a folder, which is created when there is none, and subscribed. Messages that were stored before are left out.
   * Returns the number of those that were added, once they are on disk.
   * @throws AppError unavailable when the mailbox is damaged or busy; invalid_state when it is full
   */
  add(
    mailboxId: MailboxId,
    added: { folder: string; messages: readonly AddedMessage[] },
  ): Promise<ImportResult>;
  /** Stores further delivery ids of messages that were stored before, under other ids. They are then not missing any more. */
  remember(mailboxId: MailboxId, deliveryIds: readonly string[]): Promise<void>;
  /** Returns all folders by name. */
  listFolders(mailboxId: MailboxId): Promise<ListedFolder[]>;
  /**
   * Returns the next messages of a folder by UID, at least one unless there is none, and then as many as have at most `maxBytes`.
   * @throws AppError not_found when there is no such folder
   */
  read(
    mailboxId: MailboxId,
    slice: { folder: string; afterUid: number; maxBytes: number },
  ): Promise<StoredMessage[]>;
};
