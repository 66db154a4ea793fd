import type { Migration } from '../../db/migration.ts';

/** Adds the annotations of folders and of the server (RFC 5464). The names of entries are ASCII, of which NOCASE compares the letters. */
export const metadata: Migration = {
  id: '0003-metadata',
  sql: `
CREATE TABLE metadata (
  id INTEGER PRIMARY KEY,
  folderId INTEGER NOT NULL,
  entry TEXT NOT NULL COLLATE NOCASE,
  value BLOB NOT NULL,
  UNIQUE (folderId, entry)
) STRICT;
`,
};
