import type { Migration } from '../migration.ts';

/** Confirmation mails that are still to be made become tasks. */
export const tasksOfConfirmations: Migration = {
  id: '0073-tasks-of-confirmations',
  sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
SELECT 'confirmations', CAST(id AS TEXT), tenantId, tenantId, dueAt FROM confirmationRequests;
DROP INDEX confirmationRequestsDue;
ALTER TABLE confirmationRequests DROP COLUMN dueAt;
`,
};
