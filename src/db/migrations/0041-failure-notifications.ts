import type { Migration } from '../migration.ts';

/** Adds who is told when a forwarded message fails. Mail that was forwarded before is not notified about. */
export const failureNotifications: Migration = {
  id: '0041-failure-notifications',
  sql: `
CREATE TABLE failureNotifications (
  messageId TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  recipient TEXT NOT NULL,
  dueAt INTEGER,
  attempts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX failureNotificationsDue ON failureNotifications (dueAt) WHERE dueAt IS NOT NULL;
`,
};
