import type { Migration } from '../migration.ts';

/**
 * Adds what a route remembers of its posts, and indexes for the list of received messages. A route that was disabled so
 * far was disabled by its owner.
 */
export const routePosting: Migration = {
  id: '0032-route-posting',
  sql: `
ALTER TABLE inboundRoutes ADD COLUMN disabledReason TEXT;
ALTER TABLE inboundRoutes ADD COLUMN disabledAt INTEGER;
ALTER TABLE inboundRoutes ADD COLUMN failingSince INTEGER;
ALTER TABLE inboundRoutes ADD COLUMN warnedAt INTEGER;
ALTER TABLE inboundRoutes ADD COLUMN consecutiveFailures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inboundRoutes ADD COLUMN suspendedUntil INTEGER;
UPDATE inboundRoutes SET disabledReason = 'manual', disabledAt = updatedAt WHERE enabled = 0;

CREATE INDEX receivedTasksByQueue ON receivedTasks (queue, id);
CREATE INDEX receivedRecipientsByAddress ON receivedRecipients (lower(address), messageId);
CREATE INDEX receivedRecipientsByTarget ON receivedRecipients (targetId, messageId);
`,
};
