/** The migration of the main database with which sources of outgoing mail are suspended and warmed up. */
import type { Migration } from './migrate.ts';

export const SOURCES: Migration = {
  id: '0120-sources',
  sql: `
CREATE TABLE sourceSuspensions (
  source TEXT NOT NULL,
  address TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (source, address)
) STRICT, WITHOUT ROWID;
CREATE TABLE sourceWarmUps (
  source TEXT PRIMARY KEY NOT NULL,
  curve TEXT NOT NULL,
  startedAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sourceWarmUpCounts (
  source TEXT NOT NULL,
  provider TEXT NOT NULL,
  day INTEGER NOT NULL,
  firstAttempts INTEGER NOT NULL,
  PRIMARY KEY (source, provider)
) STRICT, WITHOUT ROWID;
`,
};
