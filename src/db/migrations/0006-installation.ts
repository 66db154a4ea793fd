import type { Migration } from '../migration.ts';

/** Adds the identity of the database; `installation.json` in the data directory carries the same. */
export const installation: Migration = {
  id: '0006-installation',
  sql: `
CREATE TABLE installation (
  id TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  wallAt INTEGER NOT NULL,
  canary TEXT,
  keepFilesUntil INTEGER
) STRICT;
`,
};
