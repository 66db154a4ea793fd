import type { Migration } from '../migration.ts';

/** Adds mail that people send: who is told about it, and how many recipients a mailbox has written to. */
export const submission: Migration = {
  id: '0049-submission',
  sql: `
ALTER TABLE messages ADD COLUMN mailboxId TEXT;
ALTER TABLE messages ADD COLUMN dsn TEXT;
ALTER TABLE messages ADD COLUMN utf8 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE recipients ADD COLUMN dsn TEXT;
CREATE TABLE submittedMessages (
  messageId TEXT PRIMARY KEY,
  dueAt INTEGER,
  told TEXT NOT NULL,
  report TEXT,
  reports INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX submittedMessagesDue ON submittedMessages (dueAt) WHERE dueAt IS NOT NULL;
CREATE TABLE submissionCounts (
  mailboxId TEXT NOT NULL,
  hour INTEGER NOT NULL,
  recipients INTEGER NOT NULL,
  newRecipients INTEGER NOT NULL,
  PRIMARY KEY (mailboxId, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX submissionCountsByHour ON submissionCounts (hour);
CREATE TABLE correspondents (
  mailboxId TEXT NOT NULL,
  address TEXT NOT NULL,
  lastAt INTEGER NOT NULL,
  PRIMARY KEY (mailboxId, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX correspondentsByAge ON correspondents (lastAt);
`,
};
