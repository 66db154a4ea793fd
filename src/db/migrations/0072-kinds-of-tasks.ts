import type { Migration } from '../migration.ts';

/**
 * Imports and exports that have not ended, imports of mail, folders of deleted mailboxes, and checks of
 * domains become tasks. Jobs that ran or waited for a
 * retry are due at once.
 */
export const kindsOfTasks: Migration = {
  id: '0072-kinds-of-tasks',
  sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
SELECT CASE type WHEN 'import' THEN 'imports' ELSE 'exports' END, id, tenantId, tenantId, createdAt
FROM jobs
WHERE dueAt IS NOT NULL;
DROP INDEX jobsDue;
ALTER TABLE jobs DROP COLUMN dueAt;

INSERT INTO tasks (kind, reference, queueKey, dueAt)
SELECT 'mailbox-removals', mailboxId, 'mailbox-removals', 0 FROM mailboxRemovals;
DROP TABLE mailboxRemovals;

INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
SELECT 'domain-checks', id, tenantId, tenantId, nextCheckAt FROM domains WHERE nextCheckAt IS NOT NULL;
DROP INDEX domainsToCheck;

INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT 'mailbox-imports', id, tenantId, tenantId, CASE status WHEN 'running' THEN dueAt ELSE createdAt END, failedTurns
FROM mailboxImports
WHERE dueAt IS NOT NULL;
DROP INDEX mailboxImportsByDue;
ALTER TABLE mailboxImports DROP COLUMN dueAt;
ALTER TABLE mailboxImports DROP COLUMN failedTurns;
`,
};
