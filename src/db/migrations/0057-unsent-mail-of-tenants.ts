import type { Migration } from '../migration.ts';

/** Adds whose each message of a person is, and its size, so that the mail of a tenant that waits for its recipients can be limited. */
export const unsentMailOfTenants: Migration = {
  id: '0057-unsent-mail-of-tenants',
  sql: `
ALTER TABLE submittedMessages ADD COLUMN tenantId TEXT NOT NULL DEFAULT '';
ALTER TABLE submittedMessages ADD COLUMN sizeBytes INTEGER NOT NULL DEFAULT 0;
UPDATE submittedMessages SET
  tenantId = coalesce((SELECT tenantId FROM messages WHERE messages.id = messageId), ''),
  sizeBytes = coalesce(
    (SELECT blobs.sizeBytes FROM messages JOIN blobs ON blobs.id = messages.blobId WHERE messages.id = messageId), 0);
CREATE INDEX submittedMessagesByTenant ON submittedMessages (tenantId, sizeBytes);
`,
};
