import type { Migration } from '../migration.ts';

/**
 * Adds what the control of broadcasts needs: the domain that a broadcast is sent from, so that it cannot be deleted
 * meanwhile, and the counts at the last resume, from which bounces and complaints are judged again.
 */
export const broadcastControl: Migration = {
  id: '0026-broadcast-control',
  sql: `
ALTER TABLE broadcastRuns ADD COLUMN domainId TEXT;
ALTER TABLE broadcastRuns ADD COLUMN judgedFrom TEXT;
CREATE INDEX broadcastRunsByDomain ON broadcastRuns (domainId) WHERE endedAt IS NULL;
`,
};
