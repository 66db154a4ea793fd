import type { Migration } from '../migration.ts';

/** Moves the posts that wait, of webhooks and of routes, to the tasks. What had been leased is interrupted, and due at once. */
export const postTasks: Migration = {
  id: '0070-post-tasks',
  sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT 'webhooks', id, endpointId, tenantId,
       CASE WHEN runId IS NULL THEN coalesce(dueAt, createdAt) ELSE createdAt END, attempts
  FROM webhookDeliveries WHERE state = 'pending';
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT DISTINCT 'webhook-replays', replay.endpointId, replay.endpointId, endpoint.tenantId, 0, 0
  FROM webhookReplays AS replay JOIN webhookEndpoints AS endpoint ON endpoint.id = replay.endpointId;
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT 'route-posts', id, queue, tenantId,
       CASE WHEN runId IS NULL THEN coalesce(dueAt, createdAt) ELSE createdAt END, attempts
  FROM receivedTasks WHERE state = 'pending' AND kind = 'post';
UPDATE receivedTasks SET dueAt = NULL, runId = NULL WHERE state = 'pending' AND kind = 'post';
CREATE INDEX receivedPostsPending ON receivedTasks (queue, id) WHERE state = 'pending' AND kind = 'post';
DROP INDEX webhookDeliveriesPending;
DROP INDEX webhookDeliveriesLeased;
ALTER TABLE webhookDeliveries DROP COLUMN dueAt;
ALTER TABLE webhookDeliveries DROP COLUMN runId;
`,
};
