import type { Migration } from '../migration.ts';

/**
 * Adds app passwords of mailboxes, the salt of each mailbox for SCRAM, and whether its own password opens it. App passwords go with
 * their mailbox.
 */
export const appPasswords: Migration = {
  id: '0047-app-passwords',
  sql: `
ALTER TABLE mailboxes ADD COLUMN passwordLogin INTEGER NOT NULL DEFAULT 1;
ALTER TABLE mailboxes ADD COLUMN scramSalt TEXT NOT NULL DEFAULT '';
UPDATE mailboxes SET scramSalt = lower(hex(randomblob(16)));

CREATE TABLE appPasswords (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  mailboxId TEXT NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  protocols TEXT NOT NULL,
  allowedIps TEXT,
  hint TEXT NOT NULL,
  secretHash TEXT NOT NULL,
  scramVerifiers TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  lastUsedAt INTEGER,
  expiresAt INTEGER
) STRICT;
CREATE INDEX appPasswordsByMailbox ON appPasswords (mailboxId, id);
CREATE INDEX appPasswordsByHint ON appPasswords (hint);
`,
};
