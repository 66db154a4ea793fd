/** The migration of the main database that narrows indexes which every message touches. */
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
