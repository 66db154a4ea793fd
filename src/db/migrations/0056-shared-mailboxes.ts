import type { Migration } from '../migration.ts';

/** Adds shared mailboxes and their members. App passwords of a member go with the membership. */
export const sharedMailboxes: Migration = {
  id: '0056-shared-mailboxes',
  sql: `
ALTER TABLE mailboxes ADD COLUMN kind TEXT NOT NULL DEFAULT 'personal';
ALTER TABLE appPasswords ADD COLUMN memberId TEXT REFERENCES mailboxes (id) ON DELETE CASCADE;
CREATE INDEX appPasswordsByMember ON appPasswords (memberId) WHERE memberId IS NOT NULL;

CREATE TABLE mailboxMembers (
  mailboxId TEXT NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  memberId TEXT NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  PRIMARY KEY (mailboxId, memberId)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailboxMembersByMember ON mailboxMembers (memberId);
CREATE TRIGGER appPasswordsOfMembers AFTER DELETE ON mailboxMembers BEGIN
  DELETE FROM appPasswords WHERE mailboxId = OLD.mailboxId AND memberId = OLD.memberId;
END;
`,
};
