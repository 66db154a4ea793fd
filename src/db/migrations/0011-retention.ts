import type { Migration } from '../migration.ts';

/**
 * Lets content and emails expire. `emailsWithContent` holds only the emails that retention has still to visit. The
 * other indexes are for the deletion of a blob, at which SQLite looks for every row that names it.
 */
export const retention: Migration = {
  id: '0011-retention',
  sql: `
ALTER TABLE emails ADD COLUMN contentDeletedAt INTEGER;
CREATE INDEX emailsWithContent ON emails (id) WHERE contentDeletedAt IS NULL;
CREATE INDEX messagesByBlob ON messages (blobId);
CREATE INDEX importsByBlob ON imports (blobId);
CREATE INDEX exportsByBlob ON exports (blobId);
`,
};
