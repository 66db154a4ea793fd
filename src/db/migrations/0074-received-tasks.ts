import type { Migration } from '../migration.ts';

/**
 * Moves the tasks of received messages that wait to the tasks of the engine; posts were moved before. What had been leased is
 * interrupted, and due at once.
 */
export const receivedTasksAsTasks: Migration = {
  id: '0074-received-tasks',
  sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT 'received-' || kind, id, iif(queue = '', 'installation', queue), tenantId,
       CASE WHEN runId IS NULL THEN coalesce(dueAt, createdAt) ELSE createdAt END, attempts
  FROM receivedTasks WHERE state = 'pending' AND kind <> 'post';
UPDATE receivedTasks SET dueAt = NULL, runId = NULL WHERE state = 'pending' AND kind <> 'post';
DROP INDEX receivedTasksLeased;
`,
};
