import type { Migration } from '../migration.ts';

/** After a failed post its endpoint is suspended for a short time, which grows with each failure in a row. */
export const webhookSuspension: Migration = {
  id: '0009-webhook-suspension',
  sql: `
ALTER TABLE webhookEndpoints ADD COLUMN consecutiveFailures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhookEndpoints ADD COLUMN suspendedUntil INTEGER;
`,
};
