/** The migration of the main database that adds addresses outside, with which owners of mailboxes set new passwords. */
import type { Migration } from './migrate.ts';

export const MAILBOX_RECOVERY: Migration = {
  id: '0111-mailbox-recovery',
  sql: `ALTER TABLE mailboxes ADD COLUMN passwordRecovery INTEGER NOT NULL DEFAULT 1;
CREATE TABLE mailboxRecoveries (
  mailboxId TEXT PRIMARY KEY REFERENCES mailboxes ON DELETE CASCADE,
  address TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  confirmedAt INTEGER,
  linkHash TEXT,
  linkExpiresAt INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mailboxRecoveriesByLink ON mailboxRecoveries (linkHash);
`,
};
