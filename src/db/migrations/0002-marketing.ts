import type { Migration } from '../migration.ts';

/**
 * Adds audiences, contacts, segments, topics, templates and suppressions, and the jobs that import and export them.
 */
export const marketing: Migration = {
  id: '0002-marketing',
  sql: `
CREATE TABLE suppressions (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  email TEXT NOT NULL,
  reason TEXT NOT NULL,
  sourceEmailId TEXT,
  diagnostic TEXT,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX suppressionsByEmail ON suppressions (tenantId, email);
CREATE INDEX suppressionsByTenant ON suppressions (tenantId, id);
CREATE INDEX suppressionsByReason ON suppressions (tenantId, reason, id);

CREATE TABLE imports (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  kind TEXT NOT NULL,
  audienceId TEXT,
  options TEXT NOT NULL,
  status TEXT NOT NULL,
  error TEXT,
  blobId TEXT REFERENCES blobs (id),
  sizeBytes INTEGER NOT NULL,
  processedBytes INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  dueAt INTEGER,
  createdAt INTEGER NOT NULL,
  startedAt INTEGER,
  finishedAt INTEGER
) STRICT;
CREATE INDEX importsByTenant ON imports (tenantId, id);
CREATE INDEX importsByKind ON imports (tenantId, kind, id);
CREATE INDEX importsByAudience ON imports (tenantId, kind, audienceId, id);
CREATE INDEX importsDue ON imports (tenantId, dueAt) WHERE dueAt IS NOT NULL;
CREATE INDEX importsEnded ON imports (finishedAt) WHERE finishedAt IS NOT NULL;

CREATE TABLE importErrors (
  importId TEXT NOT NULL REFERENCES imports (id),
  tenantId TEXT NOT NULL,
  line INTEGER NOT NULL,
  email TEXT NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (importId, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE exports (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  kind TEXT NOT NULL,
  audienceId TEXT,
  filter TEXT NOT NULL,
  status TEXT NOT NULL,
  error TEXT,
  blobId TEXT REFERENCES blobs (id),
  sizeBytes INTEGER,
  rows INTEGER NOT NULL,
  dueAt INTEGER,
  createdAt INTEGER NOT NULL,
  startedAt INTEGER,
  finishedAt INTEGER
) STRICT;
CREATE INDEX exportsByTenant ON exports (tenantId, id);
CREATE INDEX exportsDue ON exports (tenantId, dueAt) WHERE dueAt IS NOT NULL;
CREATE INDEX exportsEnded ON exports (finishedAt) WHERE finishedAt IS NOT NULL;

CREATE TABLE topics (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  description TEXT,
  defaultOptIn INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT;
CREATE INDEX topicsByTenant ON topics (tenantId, id);

CREATE TABLE templates (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  subject TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  html TEXT NOT NULL,
  text TEXT
) STRICT;
CREATE INDEX templatesByTenant ON templates (tenantId, id);
CREATE INDEX templatesByName ON templates (tenantId, name, id);

CREATE TABLE audiences (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  contactCount INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  deletedAt INTEGER
) STRICT;
CREATE INDEX audiencesByTenant ON audiences (tenantId, id) WHERE deletedAt IS NULL;
CREATE INDEX audiencesDeleted ON audiences (deletedAt) WHERE deletedAt IS NOT NULL;

CREATE TABLE contacts (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL,
  audienceId TEXT NOT NULL REFERENCES audiences (id),
  email TEXT NOT NULL,
  address TEXT NOT NULL,
  firstName TEXT,
  lastName TEXT,
  unsubscribed INTEGER NOT NULL,
  unsubscribedAt INTEGER,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  topics TEXT NOT NULL,
  properties TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX contactsByAddress ON contacts (tenantId, address, audienceId);
CREATE INDEX contactsByAudience ON contacts (audienceId, id);
CREATE INDEX contactsByUnsubscribed ON contacts (audienceId, unsubscribed, id);

CREATE TABLE contactChoices (
  tenantId TEXT NOT NULL,
  address TEXT NOT NULL,
  topicId TEXT NOT NULL,
  optedIn INTEGER NOT NULL,
  contactId TEXT NOT NULL,
  PRIMARY KEY (tenantId, address, topicId, optedIn, contactId)
) STRICT, WITHOUT ROWID;

CREATE TABLE segments (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  audienceId TEXT NOT NULL REFERENCES audiences (id),
  name TEXT NOT NULL,
  filter TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT;
CREATE INDEX segmentsByTenant ON segments (tenantId, id);
CREATE INDEX segmentsByAudience ON segments (audienceId, id);

CREATE TABLE broadcasts (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  mode TEXT NOT NULL,
  status TEXT NOT NULL,
  audienceId TEXT NOT NULL,
  segmentId TEXT,
  fromHeader TEXT NOT NULL,
  subject TEXT NOT NULL,
  replyTo TEXT,
  topicId TEXT,
  templateId TEXT,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  html TEXT,
  text TEXT
) STRICT;
CREATE INDEX broadcastsByTenant ON broadcasts (tenantId, mode, id);
CREATE INDEX broadcastsByStatus ON broadcasts (tenantId, mode, status, id);
CREATE INDEX broadcastsByAudience ON broadcasts (tenantId, mode, audienceId, id);
`,
};
