import type { Migration } from '../migration.ts';

/** Adds an index of imports by status. Exports need none, because a tenant has only a few of them. */
export const importStatus: Migration = {
  id: '0004-import-status',
  sql: 'CREATE INDEX importsByStatus ON imports (tenantId, status, id);',
};
