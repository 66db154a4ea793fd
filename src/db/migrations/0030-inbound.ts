import type { Migration } from '../migration.ts';

/** Adds received mail and its tasks. Partial indexes hold only open work, and messages whose bytes are kept. */
export const inbound: Migration = {
  id: '0030-inbound',
  sql: `
CREATE TABLE receivedMessages (
  id TEXT PRIMARY KEY,
  tenantId TEXT REFERENCES tenants (id),
  blobId TEXT REFERENCES blobs (id),
  sizeBytes INTEGER NOT NULL,
  sender TEXT NOT NULL,
  remoteAddress TEXT NOT NULL,
  helo TEXT,
  tls TEXT,
  requireTls INTEGER NOT NULL,
  utf8 INTEGER NOT NULL,
  trace TEXT NOT NULL,
  auth TEXT,
  spamScore REAL,
  spamReasons TEXT NOT NULL,
  flagged INTEGER NOT NULL,
  headerFrom TEXT,
  subject TEXT,
  messageId TEXT,
  emailId TEXT,
  createdAt INTEGER NOT NULL,
  endedAt INTEGER,
  contentDeletedAt INTEGER
) STRICT;
CREATE INDEX receivedMessagesByTenant ON receivedMessages (tenantId, id);
CREATE INDEX receivedMessagesByBlob ON receivedMessages (blobId) WHERE blobId IS NOT NULL;
CREATE INDEX receivedMessagesWithContent ON receivedMessages (endedAt)
  WHERE endedAt IS NOT NULL AND contentDeletedAt IS NULL;

CREATE TABLE receivedRecipients (
  messageId TEXT NOT NULL REFERENCES receivedMessages (id),
  position INTEGER NOT NULL,
  address TEXT NOT NULL,
  kind TEXT NOT NULL,
  targetId TEXT NOT NULL,
  PRIMARY KEY (messageId, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE receivedTasks (
  id TEXT PRIMARY KEY,
  messageId TEXT NOT NULL REFERENCES receivedMessages (id),
  position INTEGER NOT NULL,
  tenantId TEXT,
  kind TEXT NOT NULL,
  targetId TEXT NOT NULL,
  queue TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  dueAt INTEGER,
  runId TEXT,
  responseStatus INTEGER,
  responseTimeMs INTEGER,
  responseBody TEXT,
  error TEXT,
  createdAt INTEGER NOT NULL,
  endedAt INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX receivedTasksByMessage ON receivedTasks (messageId, position);
CREATE INDEX receivedTasksPending ON receivedTasks (kind, queue, dueAt) WHERE state = 'pending';
CREATE INDEX receivedTasksLeased ON receivedTasks (kind, runId) WHERE runId IS NOT NULL;
`,
};
