import type { Migration } from '../migration.ts';

/** Suspends an endpoint for a short time after a failed post. The time grows with each failure in a row. */
export const webhookSuspension: Migration = {
  id: '0009-webhook-suspension',
  sql: `
ALTER TABLE webhookEndpoints ADD COLUMN consecutiveFailures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhookEndpoints ADD COLUMN suspendedUntil INTEGER;
`,
};
