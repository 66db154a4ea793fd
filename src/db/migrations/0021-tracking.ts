import type { Migration } from '../migration.ts';

/** Adds the opens and clicks of tracked mail, which are recorded at once and judged a little later. */
export const tracking: Migration = {
  id: '0021-tracking',
  sql: `
CREATE TABLE engagements (
  id INTEGER PRIMARY KEY,
  emailId TEXT NOT NULL,
  kind TEXT NOT NULL,
  link INTEGER,
  url TEXT,
  at INTEGER NOT NULL,
  ip TEXT,
  userAgent TEXT,
  isHead INTEGER NOT NULL,
  isPrefetch INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  dueAt INTEGER,
  verdict TEXT,
  reason TEXT,
  eventId TEXT
) STRICT;
CREATE INDEX engagementsByEmail ON engagements (emailId, kind, link, at);
CREATE INDEX engagementsDue ON engagements (dueAt) WHERE dueAt IS NOT NULL;

CREATE TABLE firstEngagements (
  emailId TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (emailId, kind)
) STRICT, WITHOUT ROWID;
`,
};
