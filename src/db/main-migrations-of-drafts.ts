/** The migration of the main database that adds drafts: forms of the dashboard that were not sent. */
import type { Migration } from './migrate.ts';

export const DRAFTS: Migration = {
  id: '0106-drafts',
  sql: `CREATE TABLE drafts (
  id TEXT PRIMARY KEY,
  personId TEXT REFERENCES people ON DELETE CASCADE,
  mailboxId TEXT REFERENCES mailboxes ON DELETE CASCADE,
  address TEXT NOT NULL,
  action TEXT NOT NULL,
  sealed TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX draftsByPerson ON drafts (personId, address);
CREATE INDEX draftsByMailbox ON drafts (mailboxId, address);
`,
};
