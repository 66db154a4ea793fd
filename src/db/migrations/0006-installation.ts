import type { Migration } from '../migration.ts';

/** The identity of the database: the data directory carries the same in `installation.json`. */
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
