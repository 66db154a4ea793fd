import type { Migration } from '../migration.ts';

/** Adds the tasks of the engine for background work. Each index has the tasks of one state alone. */
export const tasks: Migration = {
  id: '0069-tasks',
  sql: `
CREATE TABLE tasks (
  kind TEXT NOT NULL,
  reference TEXT NOT NULL,
  queueKey TEXT NOT NULL,
  tenantId TEXT,
  dueAt INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  runId TEXT,
  error TEXT,
  PRIMARY KEY (kind, reference)
) STRICT, WITHOUT ROWID;
CREATE INDEX tasksByDue ON tasks (kind, queueKey, dueAt) WHERE runId IS NULL AND dueAt IS NOT NULL;
CREATE INDEX tasksByRun ON tasks (kind, runId) WHERE runId IS NOT NULL;
CREATE INDEX tasksByError ON tasks (kind) WHERE error IS NOT NULL;
`,
};
