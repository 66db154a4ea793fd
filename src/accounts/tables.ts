/**
 * The data dictionary of an account. `index.db` has these tables. Times are Unix milliseconds. The product calls an account a
 * mailbox, so what IMAP calls a mailbox is a folder here. A repair fills the tables of a new database by rebuild-store.ts, before any
 * other store writes to it.
 */

/** Written by accounts/store.ts. There is one row. */
export type AccountRow = {
  id: 1;
  /** Random name of this database, made when it is created and when it was salvaged. Search texts name it (search.db). */
  identity: string;
  /** Number of the last change. Every change of a message or a folder takes the next one (RFC 7162). */
  lastModseq: number;
  /** UIDVALIDITY of the folder that was made last. No other folder ever gets it. */
  lastUidValidity: number;
  /** Size of all messages as clients see it; a message that was copied counts twice. */
  usedBytes: number;
  messageCount: number;
};

/** Written by accounts/folder-store.ts. */
export type FolderRow = {
  id: number;
  /** Decoded name. `INBOX` is in upper case, and `/` separates levels. */
  name: string;
  /** MAILBOXID (RFC 8474). It stays when the folder is renamed. */
  objectId: string;
  uidValidity: number;
  uidNext: number;
  /** Number of the last change of a message in the folder, or of its creation. */
  highestModseq: number;
  /** Attribute with its backslash, such as `\Sent` (RFC 6154); null for most folders. */
  specialUse: string | null;
  messageCount: number;
  /** Number of messages without `\Seen`. */
  unseenCount: number;
  /** Number of messages with `\Deleted`. */
  deletedCount: number;
  sizeBytes: number;
  /** First UID that is `\Recent` for the next session that selects the folder to write. */
  recentFrom: number;
  /** Modseq up to which expunges may have been forgotten. */
  tombstoneFloor: number;
  createdModseq: number;
};

/** Written by accounts/folder-store.ts. A subscription outlives its folder (RFC 9051 section 6.3.7). */
type SubscriptionRow = { name: string };

/**
 * Written by accounts/content-store.ts: what is known of the bytes of a message. Only `parserVersion` and what is read from the
 * bytes ever change.
 */
export type ContentRow = {
  id: number;
  sizeBytes: number;
  /** CRC-32 of all bytes. */
  crc32: number;
  /** SHA-256 that names the file of the bytes; null when contentBytes holds them. */
  blobSha256: string | null;
  /** Version of what was read from the bytes (mail/message/mailbox-message.ts). */
  parserVersion: number;
  isOpaque: 0 | 1;
  /** JSON of the StoredPart of the message. */
  root: string;
  /** Wire text for clients that read 7 bits; the column that ends in `Utf8` is null when it would be the same. */
  envelope: string;
  envelopeUtf8: string | null;
  body: string;
  bodyUtf8: string | null;
  bodyStructure: string;
  bodyStructureUtf8: string | null;
  /** JSON of SortKeys. */
  sort: string;
  messageId: string | null;
  /** JSON list of message ids, the oldest first. */
  references: string;
  preview: string;
};

/** Written by accounts/content-store.ts. */
export type ContentBytesRow = {
  contentId: number;
  /** Header with the empty line at its end. */
  header: Uint8Array;
  /** Everything after the header; null when a file holds all bytes. */
  body: Uint8Array | null;
};

/** Written by accounts/content-store.ts: contents that lost a message and may not be needed any more. */
type ReleasedContentRow = { contentId: number };

/** Written by accounts/message-store.ts. */
export type MessageRow = {
  folderId: number;
  uid: number;
  /** EMAILID (RFC 8474). A copy has that of its original. */
  emailId: string;
  contentId: number;
  /** Number of the last change. */
  modseq: number;
  createdModseq: number;
  /** Bits of system flags (flags.ts). */
  flags: number;
  /** Set of keywords; 0 for none. */
  keywordSetId: number;
  /** INTERNALDATE, and the zone in which it is shown. */
  internalAt: number;
  internalZoneMinutes: number;
  /** SAVEDATE (RFC 8514). */
  savedAt: number;
  /** RFC822.SIZE: content and prefix. */
  sizeBytes: number;
  /**
   * Trace fields that this recipient alone has, in front of the content, each with its CRLF. None is one of those in which people
   * search most (mail/message/search-fields.ts).
   */
  prefix: Uint8Array;
};

/** Written by accounts/keyword-store.ts. Sets are never changed. */
type KeywordSetRow = {
  id: number;
  /** JSON list of sorted keywords. */
  words: string;
};

/**
 * Written by accounts/pending-edit-store.ts: edits of flags (changes.ts) that are committed, and that the rows of the messages
 * do not have yet. They are applied in the order of modseq. Counts and modseq of the folder have them already.
 */
export type PendingEditRow = {
  folderId: number;
  /** Number of the change. */
  modseq: number;
  uidFrom: number;
  uidTo: number;
  /** Bits of system flags that stay, and bits that are added. */
  keptFlags: number;
  addedFlags: number;
  /** Set of keywords that all messages get, 0 when all keywords are removed; null when each message keeps its own. */
  keywordSetId: number | null;
  /** Messages that were changed after this modseq are left alone; null when there are no such messages. */
  unchangedSince: number | null;
};

/** Written by accounts/expunged-store.ts: ranges of UIDs that were removed by one change (RFC 7162 section 3.2.10). */
export type ExpungedRow = { folderId: number; modseq: number; uidFrom: number; uidTo: number };

/**
 * Written by accounts/delivery-store.ts: deliveries and imported messages that are stored, so that none is stored
 * twice. `at` is the time of a delivery, whose id is kept for some months; those of imports are kept for ever (`FOR_EVER`).
 */
export type DeliveryRow = { id: string; at: number };

/**
 * Written by accounts/spam-signal-store.ts: what the owner has said last about a message. The message may have been removed
 * since.
 */
export type SpamSignalRow = {
  /** EMAILID of the message, which its copies share. */
  emailId: string;
  verdict: 'spam' | 'ham';
  /** Number of the change that has said it. */
  modseq: number;
};

/** Written by accounts/metadata-store.ts: an annotation of a folder or of the server (RFC 5464). */
type MetadataRow = {
  id: number;
  /** 0 for the server. */
  folderId: number;
  /** Name as it was first set. Names are compared without regard to case. */
  entry: string;
  value: Uint8Array;
};

export type AccountTables = {
  account: AccountRow;
  folders: FolderRow;
  subscriptions: SubscriptionRow;
  contents: ContentRow;
  contentBytes: ContentBytesRow;
  releasedContents: ReleasedContentRow;
  messages: MessageRow;
  keywordSets: KeywordSetRow;
  expunged: ExpungedRow;
  deliveries: DeliveryRow;
  metadata: MetadataRow;
  pendingEdits: PendingEditRow;
  spamSignals: SpamSignalRow;
};
