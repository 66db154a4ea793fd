import type { Migration } from '../migration.ts';

/** Stores the keys of the links in mail. */
export const links: Migration = {
  id: '0020-links',
  sql: `
CREATE TABLE linkKeys (
  id TEXT PRIMARY KEY,
  secretSealed TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
`,
};
