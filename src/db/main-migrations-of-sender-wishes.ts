/** The migration of the main database that stores by which reports the senders of received mail want to learn of its delivery (RFC 3461). */
import type { Migration } from './migrate.ts';

export const SENDER_WISHES: Migration = {
  id: '0127-sender-wishes',
  sql: `ALTER TABLE receivedMessages ADD COLUMN dsn TEXT;
ALTER TABLE receivedMessages ADD COLUMN reportsDelivery INTEGER NOT NULL DEFAULT 0;
ALTER TABLE receivedRecipients ADD COLUMN dsn TEXT;
ALTER TABLE failureNotifications ADD COLUMN named TEXT;
`,
};
