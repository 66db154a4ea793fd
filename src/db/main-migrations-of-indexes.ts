/** The migrations of the main database that narrow indexes which every message touches, or make fewer of them. */
import type { Migration } from './migrate.ts';

/**
 * The events of an email, and the attempts of a recipient, are few: they are sorted when they are read, so that their index needs no
 * second id. Rows that no query finds by an index are not in it: events about no email, received messages without a Message-ID, and
 * tasks that are not deliveries to a mailbox.
 */
export const NARROW_INDEXES: Migration = {
  id: '0122-narrow-indexes',
  sql: `
DROP INDEX eventsByEmail;
CREATE INDEX eventsByEmail ON events (emailId) WHERE emailId IS NOT NULL;
DROP INDEX attemptsByRecipient;
CREATE INDEX attemptsByRecipient ON attempts (recipientId);
DROP INDEX receivedMessagesByMessageId;
CREATE INDEX receivedMessagesByMessageId ON receivedMessages (tenantId, messageId, id)
  WHERE isForRoute = 1 AND messageId IS NOT NULL;
DROP INDEX receivedTasksPending;
CREATE INDEX receivedDeliveriesPending ON receivedTasks (queue) WHERE state = 'pending' AND kind = 'mailbox';
`,
};

/**
 * A received message is an entry of fewer indexes: one index of a tenant's messages serves its list for routes too, one of open tasks
 * serves each question about a queue, and nobody asks for the recipients of a mailbox.
 */
export const INDEXES_OF_RECEIVED_MAIL: Migration = {
  id: '0124-indexes-of-received-mail',
  sql: `
DROP INDEX receivedMessagesForRoutes;
DROP INDEX receivedMessagesByTenant;
CREATE INDEX receivedMessagesByTenant ON receivedMessages (tenantId, isForRoute, id);
DROP INDEX receivedRecipientsByTarget;
CREATE INDEX receivedRecipientsByTarget ON receivedRecipients (targetId, messageId) WHERE kind <> 'mailbox';
DROP INDEX receivedTasksByQueue;
DROP INDEX receivedPostsPending;
DROP INDEX receivedDeliveriesPending;
CREATE INDEX receivedTasksOpen ON receivedTasks (queue, state, id) WHERE state <> 'done';
`,
};

/** The retries of a queue are found while its first attempts wait for a warm-up, however many these are. */
export const INDEX_OF_RETRIES: Migration = {
  id: '0126-index-of-retries',
  sql: `CREATE INDEX recipientsTried ON recipients (queue, dueAt)
  WHERE attempts > 0 AND state IN ('ready', 'deferred');
`,
};
