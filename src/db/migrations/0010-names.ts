import type { Migration } from '../migration.ts';

/** Gives columns the names that the rest of the program uses. SQLite changes the schema alone, not the rows. */
export const names: Migration = {
  id: '0010-names',
  sql: `
ALTER TABLE recipients RENAME COLUMN lane TO queue;
ALTER TABLE recipients RENAME COLUMN doubts TO interruptedAttempts;
ALTER TABLE recipients RENAME COLUMN epoch TO runId;
ALTER TABLE webhookDeliveries RENAME COLUMN epoch TO runId;
`,
};
