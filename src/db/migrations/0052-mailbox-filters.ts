import type { Migration } from '../migration.ts';

/** Adds what mailboxes do with their mail by themselves. */
export const mailboxFilters: Migration = {
  id: '0052-mailbox-filters',
  sql: `
CREATE TABLE mailboxFilters (
  mailboxId TEXT PRIMARY KEY REFERENCES mailboxes (id),
  filters TEXT NOT NULL,
  script TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
