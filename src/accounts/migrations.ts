/**
 * The schema of `index.db`. New databases get it by the same migrations as old ones, so that all have their tables at the same pages:
 * the repair of a damaged one relies on it (salvage-store.ts). A migration that a database has had is never changed.
 */
import { type Migration, migratedSchema } from '../db/migrate.ts';

export const ACCOUNT_MIGRATIONS: readonly [Migration, ...Migration[]] = [
  /**
   * Creates the tables of an account. Ids of contents are never used again, because search texts name them. Ids of folders are
   * neither, because sessions name them.
   */
  {
    id: '0001-initial',
    sql: `
CREATE TABLE account (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  identity TEXT NOT NULL,
  lastModseq INTEGER NOT NULL,
  lastUidValidity INTEGER NOT NULL,
  usedBytes INTEGER NOT NULL,
  messageCount INTEGER NOT NULL
) STRICT;

CREATE TABLE folders (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  objectId TEXT NOT NULL,
  uidValidity INTEGER NOT NULL,
  uidNext INTEGER NOT NULL,
  highestModseq INTEGER NOT NULL,
  specialUse TEXT,
  messageCount INTEGER NOT NULL,
  unseenCount INTEGER NOT NULL,
  deletedCount INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  recentFrom INTEGER NOT NULL,
  tombstoneFloor INTEGER NOT NULL,
  createdModseq INTEGER NOT NULL
) STRICT;

CREATE TABLE subscriptions (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE contents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  sizeBytes INTEGER NOT NULL,
  crc32 INTEGER NOT NULL,
  blobSha256 TEXT,
  parserVersion INTEGER NOT NULL,
  isOpaque INTEGER NOT NULL,
  root TEXT NOT NULL,
  envelope TEXT NOT NULL,
  envelopeUtf8 TEXT,
  body TEXT NOT NULL,
  bodyUtf8 TEXT,
  bodyStructure TEXT NOT NULL,
  bodyStructureUtf8 TEXT,
  sort TEXT NOT NULL,
  messageId TEXT,
  "references" TEXT NOT NULL,
  preview TEXT NOT NULL
) STRICT;
CREATE INDEX contentsInFiles ON contents (blobSha256) WHERE blobSha256 IS NOT NULL;

CREATE TABLE contentBytes (
  contentId INTEGER PRIMARY KEY,
  header BLOB NOT NULL,
  body BLOB
) STRICT;

CREATE TABLE releasedContents (contentId INTEGER PRIMARY KEY) STRICT;

CREATE TABLE messages (
  folderId INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  emailId TEXT NOT NULL,
  contentId INTEGER NOT NULL,
  modseq INTEGER NOT NULL,
  createdModseq INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  keywordSetId INTEGER NOT NULL,
  internalAt INTEGER NOT NULL,
  internalZoneMinutes INTEGER NOT NULL,
  savedAt INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  prefix BLOB NOT NULL,
  PRIMARY KEY (folderId, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX messagesByModseq ON messages (folderId, modseq);
CREATE INDEX messagesByContent ON messages (contentId);

CREATE TABLE keywordSets (id INTEGER PRIMARY KEY, words TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE expunged (
  folderId INTEGER NOT NULL,
  modseq INTEGER NOT NULL,
  uidFrom INTEGER NOT NULL,
  uidTo INTEGER NOT NULL,
  PRIMARY KEY (folderId, modseq, uidFrom)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX deliveriesByAge ON deliveries (at);
`,
  },
  /**
   * Removes an index that no query uses: the modseqs of an open folder are in memory. Each change of a flag cost two changes of the
   * index, which was most of the time of a STORE.
   */
  {
    id: '0002-no-index-of-modseqs',
    sql: 'DROP INDEX messagesByModseq;',
  },
  /** Adds the annotations of folders and of the server (RFC 5464). The names of entries are ASCII, of which NOCASE compares the letters. */
  {
    id: '0003-metadata',
    sql: `
CREATE TABLE metadata (
  id INTEGER PRIMARY KEY,
  folderId INTEGER NOT NULL,
  entry TEXT NOT NULL COLLATE NOCASE,
  value BLOB NOT NULL,
  UNIQUE (folderId, entry)
) STRICT;
`,
  },
  /**
   * Finds the messages with a set of keywords, so that sets without messages can be removed. Few messages have keywords. Ids of imports,
   * which are kept for ever, get a time that is never past (delivery-store.ts).
   */
  {
    id: '0004-keyword-sets-in-use',
    sql: `
CREATE INDEX messagesByKeywords ON messages (keywordSetId) WHERE keywordSetId <> 0;
UPDATE deliveries SET at = 9007199254740991 WHERE id LIKE 'import/%';
`,
  },
  /**
   * Adds the edits of flags that the rows of messages do not have yet. A STORE of many messages commits some numbers, and its rows are
   * written afterwards.
   */
  {
    id: '0005-pending-edits',
    sql: `
CREATE TABLE pendingEdits (
  folderId INTEGER NOT NULL,
  modseq INTEGER NOT NULL,
  uidFrom INTEGER NOT NULL,
  uidTo INTEGER NOT NULL,
  keptFlags INTEGER NOT NULL,
  addedFlags INTEGER NOT NULL,
  keywordSetId INTEGER,
  unchangedSince INTEGER,
  PRIMARY KEY (folderId, modseq, uidFrom)
) STRICT, WITHOUT ROWID;
`,
  },
  /** Adds what the owner has said about messages: that they are spam, or that they are not. */
  {
    id: '0006-spam-signals',
    sql: `
CREATE TABLE spamSignals (
  emailId TEXT PRIMARY KEY,
  verdict TEXT NOT NULL,
  modseq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spamSignalsByModseq ON spamSignals (modseq);
`,
  },
  /** Finds a message by its EMAILID, with which the HTTP API names it, and by its Message-ID, with which replies name it. */
  {
    id: '0007-messages-by-id',
    sql: `
CREATE INDEX messagesByEmailId ON messages (emailId);
CREATE INDEX contentsByMessageId ON contents (messageId) WHERE messageId IS NOT NULL;
`,
  },
  /** Leaves out the messages that are found by the content that their EMAILID names, which are nearly all new ones (email-id.ts). */
  {
    id: '0008-email-ids-of-contents',
    sql: `
DROP INDEX messagesByEmailId;
CREATE INDEX messagesByEmailId ON messages (emailId) WHERE emailId NOT GLOB 'C*';
`,
  },
];

export const ACCOUNT_SCHEMA = migratedSchema(ACCOUNT_MIGRATIONS);
