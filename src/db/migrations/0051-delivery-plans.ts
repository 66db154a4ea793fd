import type { Migration } from '../migration.ts';

/** Adds what the scripts of a mailbox have decided about a message, while it is done. */
export const deliveryPlans: Migration = {
  id: '0051-delivery-plans',
  sql: `
CREATE TABLE deliveryPlans (
  taskId TEXT PRIMARY KEY,
  plan TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
