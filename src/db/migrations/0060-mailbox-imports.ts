import type { Migration } from '../migration.ts';

/** Adds imports of mail from other servers, what they could not import, and the UIDVALIDITY of the folders that they have read. */
export const mailboxImports: Migration = {
  id: '0060-mailbox-imports',
  sql: `
CREATE TABLE mailboxImports (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  mailboxId TEXT NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  security TEXT NOT NULL,
  user TEXT NOT NULL,
  password TEXT,
  status TEXT NOT NULL,
  reason TEXT,
  error TEXT,
  progress TEXT NOT NULL,
  failedTurns INTEGER NOT NULL,
  dueAt INTEGER,
  createdAt INTEGER NOT NULL,
  startedAt INTEGER,
  finishedAt INTEGER
) STRICT;
CREATE INDEX mailboxImportsByMailbox ON mailboxImports (mailboxId, id);
CREATE INDEX mailboxImportsByDue ON mailboxImports (tenantId, dueAt) WHERE dueAt IS NOT NULL;
CREATE INDEX mailboxImportsByEnd ON mailboxImports (finishedAt) WHERE finishedAt IS NOT NULL;

CREATE TABLE mailboxImportErrors (
  importId TEXT NOT NULL REFERENCES mailboxImports (id) ON DELETE CASCADE,
  folder TEXT NOT NULL,
  uid INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (importId, folder, uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE mailboxImportFolders (
  mailboxId TEXT NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  folderKey TEXT NOT NULL,
  uidValidity TEXT NOT NULL,
  mayRepeat INTEGER NOT NULL,
  PRIMARY KEY (mailboxId, folderKey)
) STRICT, WITHOUT ROWID;
`,
};
