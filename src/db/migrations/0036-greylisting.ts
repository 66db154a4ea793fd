import type { Migration } from '../migration.ts';

/**
 * Adds what greylisting remembers. The reasons for which a message counts as spam, which were texts, become signals with names
 * and points; the only reason so far was the policy of the author's domain.
 */
export const greylisting: Migration = {
  id: '0036-greylisting',
  sql: `
CREATE TABLE greylistEntries (
  network TEXT NOT NULL,
  attempt TEXT NOT NULL,
  firstSeenAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  PRIMARY KEY (network, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX greylistEntriesByExpiry ON greylistEntries (expiresAt);

UPDATE receivedMessages SET spamReasons = '[{"name":"dmarc_quarantine","points":0}]' WHERE spamReasons <> '[]';
`,
};
