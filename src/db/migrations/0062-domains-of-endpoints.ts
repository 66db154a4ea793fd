import type { Migration } from '../migration.ts';

/**
 * Adds the domain of webhook endpoints that post the events of one domain alone, gives each broadcast the run that holds its domain, and marks
 * the received messages that a route gets. Existing endpoints have no domain: the key that made each was not recorded, so those that a key of
 * one domain may have made are logged.
 */
export const domainsOfEndpoints: Migration = {
  id: '0062-domains-of-endpoints',
  sql: `
ALTER TABLE webhookEndpoints ADD COLUMN domainId TEXT;
INSERT INTO broadcastRuns (broadcastId, tenantId, mode)
  SELECT id, tenantId, mode FROM broadcasts WHERE id NOT IN (SELECT broadcastId FROM broadcastRuns);
UPDATE broadcastRuns SET domainId = (
  SELECT domains.id FROM broadcasts
    JOIN domains ON domains.tenantId = broadcasts.tenantId AND domains.deletedAt IS NULL
      AND substr(lower(rtrim(broadcasts.fromHeader, '> ')), -length('@' || domains.name)) = '@' || domains.name
   WHERE broadcasts.id = broadcastId)
 WHERE domainId IS NULL;
ALTER TABLE receivedMessages ADD COLUMN isForRoute INTEGER NOT NULL DEFAULT 0;
UPDATE receivedMessages SET isForRoute = 1
  WHERE id IN (SELECT messageId FROM receivedRecipients WHERE kind = 'post');
CREATE INDEX receivedMessagesForRoutes ON receivedMessages (tenantId, id) WHERE isForRoute = 1;
`,
  notice: {
    message:
      'this webhook endpoint gets the events of all domains of its tenant, and an API key that is limited to one domain may have made it; to limit it, delete it and make it again with that key',
    sql: `
SELECT id AS endpointId, tenantId, mode FROM webhookEndpoints AS endpoint
 WHERE EXISTS (SELECT 1 FROM apiKeys
   WHERE apiKeys.tenantId = endpoint.tenantId AND apiKeys.mode = endpoint.mode
     AND apiKeys.domainId IS NOT NULL AND apiKeys.permission = 'full_access')
 ORDER BY id`,
  },
};
