import type { Migration } from '../../db/migration.ts';

/**
 * Creates the tables of an account. Ids of contents are never used again, because search texts name them. Ids of folders are
 * neither, because sessions name them.
 */
export const initial: Migration = {
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
};
