import type { Migration } from '../migration.ts';

/** Imports are listed by how they stand; of the other jobs, exports, a tenant has too few to need it. */
export const importStatus: Migration = {
  id: '0004-import-status',
  sql: 'CREATE INDEX importsByStatus ON imports (tenantId, status, id);',
};
