/** The migration of the main database that adds the forms of the dashboard that were sent. */
import type { Migration } from './migrate.ts';

export const SENT_FORMS: Migration = {
  id: '0113-sent-forms',
  sql: `CREATE TABLE sentForms (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  personId TEXT REFERENCES people ON DELETE CASCADE,
  mailboxId TEXT REFERENCES mailboxes ON DELETE CASCADE,
  answer TEXT
) STRICT;
CREATE INDEX sentFormsByPerson ON sentForms (personId, id);
CREATE INDEX sentFormsByMailbox ON sentForms (mailboxId, id);
`,
};
