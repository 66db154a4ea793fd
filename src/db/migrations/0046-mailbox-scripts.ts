import type { Migration } from '../migration.ts';

/** Adds the Sieve scripts of mailboxes, and what their runs remember. */
export const mailboxScripts: Migration = {
  id: '0046-mailbox-scripts',
  sql: `
CREATE TABLE mailboxScripts (
  mailboxId TEXT NOT NULL REFERENCES mailboxes (id),
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  sizeBytes INTEGER NOT NULL,
  isActive INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  PRIMARY KEY (mailboxId, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mailboxScriptsActive ON mailboxScripts (mailboxId) WHERE isActive = 1;

CREATE TABLE scriptMemories (
  mailboxId TEXT NOT NULL REFERENCES mailboxes (id),
  key TEXT NOT NULL,
  claimedBy TEXT NOT NULL,
  expiresAt INTEGER NOT NULL,
  PRIMARY KEY (mailboxId, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX scriptMemoriesByExpiry ON scriptMemories (expiresAt);
CREATE INDEX scriptMemoriesByMailbox ON scriptMemories (mailboxId, expiresAt);
`,
};
