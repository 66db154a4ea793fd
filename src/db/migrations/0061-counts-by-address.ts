import type { Migration } from '../migration.ts';

/**
 * Counts the recipients of a mailbox by its address, those of a tenant together, and those of scripts with them. The addresses that mailboxes
 * have written to are forgotten, since their hashes need the master key.
 */
export const countsByAddress: Migration = {
  id: '0061-counts-by-address',
  sql: `
CREATE TABLE recipientCounts (
  owner TEXT NOT NULL,
  hour INTEGER NOT NULL,
  recipients INTEGER NOT NULL,
  newRecipients INTEGER NOT NULL,
  sentByScripts INTEGER NOT NULL,
  notified INTEGER NOT NULL,
  PRIMARY KEY (owner, hour)
) STRICT, WITHOUT ROWID;
INSERT INTO recipientCounts
  SELECT address, hour, recipients, newRecipients, 0, 0 FROM submissionCounts JOIN mailboxes ON mailboxes.id = mailboxId;
INSERT INTO recipientCounts
  SELECT tenantId, hour, sum(recipients), sum(newRecipients), 0, 0
    FROM submissionCounts JOIN mailboxes ON mailboxes.id = mailboxId GROUP BY tenantId, hour;
CREATE INDEX recipientCountsByHour ON recipientCounts (hour);
DROP TABLE submissionCounts;
DELETE FROM scriptMemories WHERE key LIKE 'sent:%' OR key LIKE 'notified:%';
DROP TABLE correspondents;
CREATE TABLE correspondents (
  mailboxId TEXT NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  addressHash TEXT NOT NULL,
  lastAt INTEGER NOT NULL,
  PRIMARY KEY (mailboxId, addressHash)
) STRICT, WITHOUT ROWID;
CREATE INDEX correspondentsByAge ON correspondents (lastAt);
`,
};
