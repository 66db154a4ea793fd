/**
 * The data dictionary of an account. `index.db` has these tables. Times are Unix milliseconds. The product calls an account a
 * mailbox, so what IMAP calls a mailbox is a folder here. A repair fills the tables of a new database by rebuild-store.ts, before any
 * other store writes to it.
 */
import { bytes, flag, integer, key, nullable, type Row, rowNumber, table, text } from '../db/table.ts';

/** Written by accounts/store.ts. There is one row. */
export const account = table({
  id: integer<1>(),
  /** Random name of this database, made when it is created and when it was salvaged. Search texts name it (search.db). */
  identity: text(),
  /** Number of the last change. Every change of a message or a folder takes the next one (RFC 7162). */
  lastModseq: integer(),
  /** UIDVALIDITY of the folder that was made last. No other folder ever gets it. */
  lastUidValidity: integer(),
  /** Size of all messages as clients see it; a message that was copied counts twice. */
  usedBytes: integer(),
  messageCount: integer(),
});
export type AccountRow = Row<typeof account>;

/** Written by accounts/folder-store.ts. */
export const folders = table({
  id: integer(),
  /** Decoded name. `INBOX` is in upper case, and `/` separates levels. */
  name: text(),
  /** MAILBOXID (RFC 8474). It stays when the folder is renamed. */
  objectId: text(),
  uidValidity: integer(),
  uidNext: integer(),
  /** Number of the last change of a message in the folder, or of its creation. */
  highestModseq: integer(),
  /** Attribute with its backslash, such as `\Sent` (RFC 6154); null for most folders. */
  specialUse: nullable(text()),
  messageCount: integer(),
  /** Number of messages without `\Seen`. */
  unseenCount: integer(),
  /** Number of messages with `\Deleted`. */
  deletedCount: integer(),
  sizeBytes: integer(),
  /** First UID that is `\Recent` for the next session that selects the folder to write. */
  recentFrom: integer(),
  /** Modseq up to which expunges may have been forgotten. */
  tombstoneFloor: integer(),
  createdModseq: integer(),
});
export type FolderRow = Row<typeof folders>;

/** Written by accounts/folder-store.ts. A subscription outlives its folder (RFC 9051 section 6.3.7). */
export const subscriptions = table({ name: text() });
export type SubscriptionRow = Row<typeof subscriptions>;

/**
 * Written by accounts/content-store.ts: what is known of the bytes of a message. Only `parserVersion` and what is read from the
 * bytes ever change.
 */
export const contents = table({
  id: rowNumber(),
  sizeBytes: integer(),
  /** CRC-32 of all bytes. */
  crc32: integer(),
  /** SHA-256 that names the file of the bytes; null when contentBytes holds them. */
  blobSha256: nullable(text()),
  /** Version of what was read from the bytes (mail/mailbox-message/read.ts). */
  parserVersion: integer(),
  isOpaque: flag(),
  /** JSON of the StoredPart of the message. */
  root: text(),
  /** Wire text for clients that read 7 bits; the column that ends in `Utf8` is null when it would be the same. */
  envelope: text(),
  envelopeUtf8: nullable(text()),
  body: text(),
  bodyUtf8: nullable(text()),
  bodyStructure: text(),
  bodyStructureUtf8: nullable(text()),
  /** JSON of SortKeys. */
  sort: text(),
  messageId: nullable(text()),
  /** JSON list of message ids, the oldest first. */
  references: text(),
  preview: text(),
});
export type ContentRow = Row<typeof contents>;

/** Written by accounts/content-store.ts. */
export const contentBytes = table({
  contentId: integer(),
  /** Header with the empty line at its end. */
  header: bytes(),
  /** Everything after the header; null when a file holds all bytes. */
  body: nullable(bytes()),
});
export type ContentBytesRow = Row<typeof contentBytes>;

/** Written by accounts/content-store.ts: contents that lost a message and may not be needed any more. */
export const releasedContents = table({ contentId: integer() });
export type ReleasedContentRow = Row<typeof releasedContents>;

/** Written by accounts/message-store.ts. */
export const messages = table({
  folderId: integer(),
  uid: integer(),
  /** EMAILID (RFC 8474). A copy has that of its original. */
  emailId: text(),
  contentId: integer(),
  /** Number of the last change. */
  modseq: integer(),
  createdModseq: integer(),
  /** Bits of system flags (flags.ts). */
  flags: integer(),
  /** Set of keywords; 0 for none. */
  keywordSetId: integer(),
  /** INTERNALDATE, and the zone in which it is shown. */
  internalAt: integer(),
  internalZoneMinutes: integer(),
  /** SAVEDATE (RFC 8514). */
  savedAt: integer(),
  /** RFC822.SIZE: content and prefix. */
  sizeBytes: integer(),
  /**
   * Trace fields that this recipient alone has, in front of the content, each with its CRLF. None is one of those in which people
   * search most (mail/message/search-fields.ts).
   */
  prefix: bytes(),
});
export type MessageRow = Row<typeof messages>;

/** Written by accounts/keyword-store.ts. Sets are never changed. */
export const keywordSets = table({
  id: rowNumber(),
  /** JSON list of sorted keywords. */
  words: text(),
});
export type KeywordSetRow = Row<typeof keywordSets>;

/**
 * Written by accounts/pending-edit-store.ts: edits of flags (changes.ts) that are committed, and that the rows of the messages
 * do not have yet. They are applied in the order of modseq. Counts and modseq of the folder have them already.
 */
export const pendingEdits = table({
  folderId: integer(),
  /** Number of the change. */
  modseq: integer(),
  uidFrom: integer(),
  uidTo: integer(),
  /** Bits of system flags that stay, and bits that are added. */
  keptFlags: integer(),
  addedFlags: integer(),
  /** Set of keywords that all messages get, 0 when all keywords are removed; null when each message keeps its own. */
  keywordSetId: nullable(integer()),
  /** Messages that were changed after this modseq are left alone; null when there are no such messages. */
  unchangedSince: nullable(integer()),
});
export type PendingEditRow = Row<typeof pendingEdits>;

/** Written by accounts/expunged-store.ts: ranges of UIDs that were removed by one change (RFC 7162 section 3.2.10). */
export const expunged = table({
  folderId: integer(),
  modseq: integer(),
  uidFrom: integer(),
  uidTo: integer(),
});
export type ExpungedRow = Row<typeof expunged>;

/**
 * Written by accounts/delivery-store.ts: deliveries and imported messages that are stored, so that none is stored
 * twice. `at` is the time of a delivery, whose id is kept for some months; those of imports are kept for ever (`FOR_EVER`).
 */
export const deliveries = table({ id: text(), at: integer() });
export type DeliveryRow = Row<typeof deliveries>;

/**
 * Written by accounts/spam-signal-store.ts: what the owner has said last about a message. The message may have been removed
 * since.
 */
export const spamSignals = table({
  /** EMAILID of the message, which its copies share. */
  emailId: text(),
  verdict: text<'spam' | 'ham'>(),
  /** Number of the change that has said it. */
  modseq: integer(),
});
export type SpamSignalRow = Row<typeof spamSignals>;

/** Written by accounts/metadata-store.ts: an annotation of a folder or of the server (RFC 5464). */
export const metadata = table({
  id: rowNumber(),
  /** 0 for the server. */
  folderId: key(integer()),
  /** Name as it was first set. Names are compared without regard to case. */
  entry: key(text()),
  value: bytes(),
});
export type MetadataRow = Row<typeof metadata>;
