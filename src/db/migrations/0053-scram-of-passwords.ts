import type { Migration } from '../migration.ts';

/** Adds the verifiers of mailboxes by whose own password mail programs may log in with SCRAM. */
export const scramOfPasswords: Migration = {
  id: '0053-scram-of-passwords',
  sql: 'ALTER TABLE mailboxes ADD COLUMN scramVerifier TEXT;',
};
