import type { Migration } from '../migration.ts';

/** Adds mailboxes, and the deleted ones whose folders still have to be removed. */
export const mailboxes: Migration = {
  id: '0043-mailboxes',
  sql: `
CREATE TABLE mailboxes (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  address TEXT NOT NULL,
  domain TEXT NOT NULL,
  displayName TEXT,
  passwordHash TEXT NOT NULL,
  quotaBytes INTEGER NOT NULL,
  status TEXT NOT NULL,
  usedBytes INTEGER NOT NULL,
  messageCount INTEGER NOT NULL,
  lastLoginAt INTEGER,
  disabledCapabilities TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX mailboxesByAddress ON mailboxes (address);
CREATE INDEX mailboxesByTenant ON mailboxes (tenantId, id);
CREATE INDEX mailboxesByDomain ON mailboxes (tenantId, domain, id);

CREATE TABLE mailboxRemovals (
  mailboxId TEXT PRIMARY KEY,
  dueAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mailboxRemovalsDue ON mailboxRemovals (dueAt);
`,
};
