/** The migration of the main database with which matches of back-off rules survive restarts, and operators suspend sources. */
import type { Migration } from './migrate.ts';

export const MATCHES_AND_SUSPENSIONS: Migration = {
  id: '0128-matches-and-suspensions',
  sql: `
CREATE TABLE ruleMatches (
  id TEXT PRIMARY KEY NOT NULL,
  rule TEXT NOT NULL,
  place TEXT NOT NULL,
  tenantId TEXT,
  source TEXT,
  times TEXT NOT NULL,
  actedAt INTEGER,
  staleAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE operatorSuspensions (
  source TEXT PRIMARY KEY NOT NULL,
  reason TEXT,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
