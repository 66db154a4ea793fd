import type { Migration } from '../migration.ts';

/** Notifications about failed forwards, and checks of what people have sent, become tasks. */
export const tasksOfReports: Migration = {
  id: '0076-tasks-of-reports',
  sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT 'failure-notifications', messageId, tenantId, tenantId, dueAt, attempts
  FROM failureNotifications JOIN messages ON messages.id = messageId WHERE dueAt IS NOT NULL;
DROP INDEX failureNotificationsDue;
ALTER TABLE failureNotifications DROP COLUMN dueAt;
ALTER TABLE failureNotifications DROP COLUMN attempts;

INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
SELECT 'submission-reports', messageId, mailboxId, submitted.tenantId, dueAt
  FROM submittedMessages AS submitted JOIN messages ON messages.id = messageId
 WHERE dueAt IS NOT NULL AND mailboxId IS NOT NULL;
DROP INDEX submittedMessagesDue;
ALTER TABLE submittedMessages DROP COLUMN dueAt;
`,
};
