import type { Migration } from '../migration.ts';

/**
 * Stores how far the pass through the copies in the queue has come that follows a resume or a cancel. It was kept in memory, and
 * began again at each start: so do the passes of the runs that are due.
 */
export const passesOfRuns: Migration = {
  id: '0071-passes-of-runs',
  sql: `
ALTER TABLE broadcastRuns ADD COLUMN passAfter TEXT;
UPDATE broadcastRuns SET passAfter = '' WHERE dueAt IS NOT NULL AND startedAt IS NOT NULL;
`,
};
