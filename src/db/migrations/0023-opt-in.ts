import type { Migration } from '../migration.ts';

/**
 * Adds double opt-in: the sender of confirmation mail of an audience, contacts that have not confirmed yet with the proof of
 * their consent, the number of confirmation mails by address, and the mails that are still to be made.
 */
export const optIn: Migration = {
  id: '0023-opt-in',
  sql: `
ALTER TABLE audiences ADD COLUMN optIn TEXT;
ALTER TABLE contacts ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contacts ADD COLUMN consent TEXT;
CREATE INDEX contactsPending ON contacts (tenantId, address) WHERE pending = 1;
CREATE INDEX contactsPendingByAudience ON contacts (audienceId, unsubscribed, id) WHERE pending = 1;

CREATE TABLE confirmations (
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  address TEXT NOT NULL,
  count INTEGER NOT NULL,
  sentAt INTEGER,
  PRIMARY KEY (tenantId, mode, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE confirmationRequests (
  id INTEGER PRIMARY KEY,
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  audienceId TEXT NOT NULL,
  contactId TEXT NOT NULL,
  address TEXT NOT NULL,
  keyDomainId TEXT,
  requestedAt INTEGER NOT NULL,
  previousSentAt INTEGER,
  dueAt INTEGER NOT NULL
) STRICT;
CREATE INDEX confirmationRequestsDue ON confirmationRequests (tenantId, dueAt);
`,
};
