/** The migration of the main database with which an API key can be limited to the messages of one mailbox. */
import type { Migration } from './migrate.ts';

export const KEYS_OF_MAILBOXES: Migration = {
  id: '0117-keys-of-mailboxes',
  sql: `
ALTER TABLE apiKeys ADD COLUMN mailboxId TEXT REFERENCES mailboxes (id) ON DELETE CASCADE;
ALTER TABLE apiKeys ADD COLUMN memberId TEXT REFERENCES mailboxes (id) ON DELETE CASCADE;
CREATE INDEX apiKeysByMailbox ON apiKeys (mailboxId, id) WHERE mailboxId IS NOT NULL;
CREATE TRIGGER apiKeysOfMembers AFTER DELETE ON mailboxMembers BEGIN
  DELETE FROM apiKeys WHERE mailboxId = OLD.mailboxId AND memberId = OLD.memberId;
END;
`,
};
