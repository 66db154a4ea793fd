import type { Migration } from '../migration.ts';

/** Counts the mail of people that waits for its recipients, so that each accepted message need not add up all others. */
export const countsOfUnsentMail: Migration = {
  id: '0058-counts-of-unsent-mail',
  sql: `
CREATE TABLE unsentMail (
  owner TEXT NOT NULL PRIMARY KEY,
  messages INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO unsentMail SELECT tenantId, count(*), sum(sizeBytes) FROM submittedMessages GROUP BY tenantId;
INSERT INTO unsentMail
  SELECT mailboxId, count(*), sum(submittedMessages.sizeBytes)
    FROM submittedMessages JOIN messages ON messages.id = messageId
   WHERE mailboxId IS NOT NULL GROUP BY mailboxId;
DROP INDEX submittedMessagesByTenant;
`,
};
