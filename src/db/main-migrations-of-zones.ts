/** The migration of the main database with which owners of mailboxes have a time zone. */
import type { Migration } from './migrate.ts';

export const ZONES_OF_MAILBOXES: Migration = {
  id: '0116-zones-of-mailboxes',
  sql: 'ALTER TABLE mailboxes ADD COLUMN timeZone TEXT;',
};
