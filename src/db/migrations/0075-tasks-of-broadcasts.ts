import type { Migration } from '../migration.ts';

/** Steps of broadcasts that are due become tasks. */
export const tasksOfBroadcasts: Migration = {
  id: '0075-tasks-of-broadcasts',
  sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
SELECT 'broadcasts', broadcastId, tenantId, tenantId, dueAt FROM broadcastRuns WHERE dueAt IS NOT NULL;
DROP INDEX broadcastRunsDue;
ALTER TABLE broadcastRuns DROP COLUMN dueAt;
`,
};
