import type { Migration } from '../migration.ts';

/** Moves imports and exports into one table of jobs, since they share one life cycle. Jobs keep their ids and states. */
export const jobs: Migration = {
  id: '0018-jobs',
  sql: `
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  type TEXT NOT NULL,
  kind TEXT NOT NULL,
  audienceId TEXT,
  options TEXT NOT NULL,
  status TEXT NOT NULL,
  error TEXT,
  blobId TEXT REFERENCES blobs (id),
  sizeBytes INTEGER,
  rows INTEGER NOT NULL,
  progress TEXT NOT NULL,
  dueAt INTEGER,
  createdAt INTEGER NOT NULL,
  startedAt INTEGER,
  finishedAt INTEGER
) STRICT;
INSERT INTO jobs
SELECT id, tenantId, 'import', kind, audienceId, options, status, error, blobId, sizeBytes, rows,
  json_object('processedBytes', processedBytes, 'created', created, 'updated', updated, 'skipped', skipped, 'failed', failed),
  dueAt, createdAt, startedAt, finishedAt
FROM imports;
INSERT INTO jobs
SELECT id, tenantId, 'export', kind, audienceId, filter, status, error, blobId, sizeBytes, rows, '{}',
  dueAt, createdAt, startedAt, finishedAt
FROM exports;

CREATE TABLE jobErrors (
  jobId TEXT NOT NULL REFERENCES jobs (id),
  tenantId TEXT NOT NULL,
  line INTEGER NOT NULL,
  email TEXT NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (jobId, line)
) STRICT, WITHOUT ROWID;
INSERT INTO jobErrors SELECT importId, tenantId, line, email, message FROM importErrors;
DROP TABLE importErrors;
DROP TABLE imports;
DROP TABLE exports;

CREATE INDEX jobsByTenant ON jobs (tenantId, type, id);
CREATE INDEX jobsByStatus ON jobs (tenantId, type, status, id);
CREATE INDEX jobsByKind ON jobs (tenantId, type, kind, id);
CREATE INDEX jobsByAudience ON jobs (tenantId, type, kind, audienceId, id);
CREATE INDEX jobsByBlob ON jobs (blobId);
CREATE INDEX jobsDue ON jobs (type, tenantId, dueAt) WHERE dueAt IS NOT NULL;
CREATE INDEX jobsEnded ON jobs (finishedAt) WHERE finishedAt IS NOT NULL;
`,
};
