import type { Migration } from '../migration.ts';

/** Remembers how far the database of each mailbox was, so that an older copy of it is noticed; 0 when that is not known. */
export const changesOfMailboxes: Migration = {
  id: '0045-changes-of-mailboxes',
  sql: 'ALTER TABLE mailboxes ADD COLUMN lastModseq INTEGER NOT NULL DEFAULT 0;',
};
