/** The migration of the main database with which restrictions of sites survive restarts. */
import type { Migration } from './migrate.ts';

export const SITE_RESTRICTIONS: Migration = {
  id: '0119-site-restrictions',
  sql: `
CREATE TABLE siteRestrictions (
  id TEXT PRIMARY KEY NOT NULL,
  rule TEXT NOT NULL,
  place TEXT NOT NULL,
  tenantId TEXT,
  source TEXT,
  lowered TEXT,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
