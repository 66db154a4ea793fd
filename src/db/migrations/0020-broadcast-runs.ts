import type { Migration } from '../migration.ts';

/**
 * Adds the sending of broadcasts: the run of each, the ledger with one row for each contact, and its counts. A copy of a
 * broadcast names its broadcast and its contact.
 */
export const broadcastRuns: Migration = {
  id: '0020-broadcast-runs',
  sql: `
CREATE TABLE broadcastRuns (
  broadcastId TEXT PRIMARY KEY REFERENCES broadcasts (id),
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  dueAt INTEGER,
  scheduleAt INTEGER,
  startedAt INTEGER,
  endedAt INTEGER,
  pausedReason TEXT,
  failure TEXT,
  pace TEXT,
  nextCopyAt INTEGER,
  contentId INTEGER,
  frozen TEXT,
  walkUntil TEXT,
  walkAfter TEXT,
  walkedAt INTEGER
) STRICT;
CREATE INDEX broadcastRunsDue ON broadcastRuns (dueAt) WHERE dueAt IS NOT NULL;
CREATE INDEX broadcastRunsByContent ON broadcastRuns (contentId) WHERE endedAt IS NULL;

CREATE TABLE broadcastRecipients (
  broadcastId TEXT NOT NULL,
  contactId TEXT NOT NULL,
  tenantId TEXT NOT NULL,
  address TEXT NOT NULL,
  state TEXT NOT NULL,
  emailId TEXT,
  reason TEXT,
  changedAt INTEGER NOT NULL,
  mergeValues TEXT,
  PRIMARY KEY (broadcastId, contactId)
) STRICT, WITHOUT ROWID;
CREATE INDEX broadcastRecipientsByState ON broadcastRecipients (broadcastId, state, contactId);

CREATE TABLE broadcastCounts (
  broadcastId TEXT PRIMARY KEY,
  recipients INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL DEFAULT 0,
  delivered INTEGER NOT NULL DEFAULT 0,
  bounced INTEGER NOT NULL DEFAULT 0,
  suppressed INTEGER NOT NULL DEFAULT 0,
  optedOut INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  untried INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT 0,
  bouncedPermanently INTEGER NOT NULL DEFAULT 0,
  complained INTEGER NOT NULL DEFAULT 0,
  opened INTEGER NOT NULL DEFAULT 0,
  uniqueOpened INTEGER NOT NULL DEFAULT 0,
  clicked INTEGER NOT NULL DEFAULT 0,
  uniqueClicked INTEGER NOT NULL DEFAULT 0,
  unsubscribed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

ALTER TABLE messages ADD COLUMN broadcastId TEXT;
ALTER TABLE messages ADD COLUMN contactId TEXT;
`,
};
