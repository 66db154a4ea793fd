import type { Migration } from '../migration.ts';

/** The first schema. Partial indexes hold only open work, so they stay small however long the history grows. */
export const initial: Migration = {
  id: '0001-initial',
  sql: `
CREATE TABLE starts (at INTEGER NOT NULL) STRICT;

CREATE TABLE plans (
  name TEXT PRIMARY KEY,
  monthlyEmails INTEGER,
  requestsPerSecond INTEGER,
  createdAt INTEGER NOT NULL
) STRICT;
INSERT INTO plans VALUES ('free', 3000, 5, 0), ('unlimited', NULL, NULL, 0);

CREATE TABLE tenants (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  plan TEXT NOT NULL REFERENCES plans (name),
  createdAt INTEGER NOT NULL
) STRICT;

CREATE TABLE usage (
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  month TEXT NOT NULL,
  emails INTEGER NOT NULL,
  PRIMARY KEY (tenantId, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE apiKeys (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  mode TEXT NOT NULL,
  permission TEXT NOT NULL,
  domainId TEXT,
  allowedIps TEXT,
  hint TEXT NOT NULL,
  tokenHash TEXT NOT NULL UNIQUE,
  createdAt INTEGER NOT NULL,
  lastUsedAt INTEGER,
  expiresAt INTEGER,
  revokedAt INTEGER
) STRICT;
CREATE INDEX apiKeysByHint ON apiKeys (hint);
CREATE INDEX apiKeysByTenant ON apiKeys (tenantId, id);
CREATE INDEX apiKeysInUse ON apiKeys (tenantId, mode, id) WHERE revokedAt IS NULL;
CREATE INDEX apiKeysByExpiry ON apiKeys (tenantId, expiresAt) WHERE revokedAt IS NULL;

CREATE TABLE domains (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  productType TEXT NOT NULL,
  region TEXT NOT NULL,
  trackingSubdomain TEXT,
  openTracking INTEGER NOT NULL,
  clickTracking INTEGER NOT NULL,
  selector TEXT NOT NULL,
  publicKey TEXT NOT NULL,
  privateKeySealed TEXT NOT NULL,
  records TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  verifiedAt INTEGER,
  failingSince INTEGER,
  checksSince INTEGER NOT NULL,
  nextCheckAt INTEGER,
  deletedAt INTEGER
) STRICT;
CREATE UNIQUE INDEX domainsByName ON domains (tenantId, name) WHERE deletedAt IS NULL;
CREATE INDEX domainsByTenant ON domains (tenantId, id) WHERE deletedAt IS NULL;
CREATE INDEX domainsToCheck ON domains (nextCheckAt) WHERE nextCheckAt IS NOT NULL;
CREATE INDEX domainsDeleted ON domains (deletedAt) WHERE deletedAt IS NOT NULL;

CREATE TABLE blobs (
  id TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  sizeBytes INTEGER NOT NULL,
  eightBit INTEGER NOT NULL,
  data BLOB,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX blobsBySha256 ON blobs (sha256) WHERE data IS NULL;

CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  mode TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  sender TEXT NOT NULL,
  returnToken TEXT NOT NULL,
  domainId TEXT,
  blobId TEXT NOT NULL REFERENCES blobs (id),
  headerBytes INTEGER NOT NULL,
  bodyHash TEXT NOT NULL,
  datedAt INTEGER NOT NULL,
  signature TEXT,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  lastEventAt INTEGER NOT NULL
) STRICT;
CREATE INDEX messagesByStatus ON messages (tenantId, mode, status, id);
CREATE INDEX messagesScheduled ON messages (domainId, datedAt) WHERE datedAt > createdAt;

CREATE TABLE recipients (
  id TEXT PRIMARY KEY,
  messageId TEXT NOT NULL REFERENCES messages (id),
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  field TEXT NOT NULL,
  position INTEGER NOT NULL,
  address TEXT NOT NULL,
  domain TEXT NOT NULL,
  lane TEXT NOT NULL,
  state TEXT NOT NULL,
  dueAt INTEGER,
  attempts INTEGER NOT NULL,
  doubts INTEGER NOT NULL,
  epoch TEXT,
  delayNoticeAt INTEGER,
  smtpCode INTEGER,
  enhancedCode TEXT,
  diagnostic TEXT,
  mx TEXT,
  tls TEXT,
  lastEventAt INTEGER NOT NULL
) STRICT;
CREATE INDEX recipientsByMessage ON recipients (messageId, position);
CREATE INDEX recipientsDue ON recipients (dueAt, lane) WHERE state IN ('ready', 'deferred');
CREATE INDEX recipientsDueByLane ON recipients (lane, dueAt) WHERE state IN ('ready', 'deferred');
CREATE INDEX recipientsUntried ON recipients (tenantId, mode, messageId) WHERE state = 'ready' AND attempts = 0;
CREATE INDEX recipientsPutBack ON recipients (tenantId, mode, messageId) WHERE state = 'ready' AND attempts > 0;
CREATE INDEX recipientsByState ON recipients (tenantId, mode, state, messageId)
  WHERE state NOT IN ('ready', 'in_flight', 'delivered');
CREATE INDEX recipientsInFlight ON recipients (epoch, dueAt) WHERE state = 'in_flight';
CREATE INDEX recipientsHeld ON recipients (messageId) WHERE state = 'held';

CREATE TABLE attempts (
  id TEXT PRIMARY KEY,
  recipientId TEXT NOT NULL,
  messageId TEXT NOT NULL,
  tenantId TEXT NOT NULL,
  at INTEGER NOT NULL,
  durationMs INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  phase TEXT NOT NULL,
  mx TEXT,
  address TEXT,
  tls TEXT,
  smtpCode INTEGER,
  enhancedCode TEXT,
  reply TEXT
) STRICT;
CREATE INDEX attemptsByRecipient ON attempts (recipientId, id);

CREATE TABLE emails (
  id TEXT PRIMARY KEY REFERENCES messages (id),
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  type TEXT NOT NULL,
  fromHeader TEXT NOT NULL,
  fromAddress TEXT NOT NULL,
  fromDomain TEXT NOT NULL,
  toList TEXT NOT NULL,
  ccList TEXT NOT NULL,
  bccList TEXT NOT NULL,
  replyToList TEXT NOT NULL,
  subject TEXT NOT NULL,
  headers TEXT NOT NULL,
  attachments TEXT NOT NULL,
  tags TEXT NOT NULL,
  scheduledAt INTEGER,
  templateId TEXT,
  topicId TEXT,
  broadcastId TEXT,
  missingVariables TEXT NOT NULL,
  rfcMessageId TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  html TEXT,
  text TEXT
) STRICT;
CREATE INDEX emailsByTenant ON emails (tenantId, mode, id);
CREATE INDEX emailsByFrom ON emails (tenantId, mode, fromAddress, id);
CREATE INDEX emailsByFromDomain ON emails (tenantId, mode, fromDomain, id);

CREATE TABLE emailAddresses (
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  address TEXT NOT NULL,
  emailId TEXT NOT NULL,
  PRIMARY KEY (tenantId, mode, address, emailId)
) STRICT, WITHOUT ROWID;

CREATE TABLE emailTags (
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  emailId TEXT NOT NULL,
  PRIMARY KEY (tenantId, mode, key, value, emailId)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  key TEXT NOT NULL,
  requestHash TEXT NOT NULL,
  response TEXT NOT NULL,
  expiresAt INTEGER NOT NULL,
  PRIMARY KEY (tenantId, mode, key)
) STRICT;
CREATE INDEX idempotencyByExpiry ON idempotency (expiresAt);

CREATE TABLE events (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  type TEXT NOT NULL,
  emailId TEXT,
  data TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  fannedOut INTEGER NOT NULL
) STRICT;
CREATE INDEX eventsByEmail ON events (emailId, id);
CREATE INDEX eventsToFanOut ON events (id) WHERE fannedOut = 0;

CREATE TABLE webhookEndpoints (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  mode TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  description TEXT,
  status TEXT NOT NULL,
  disabledReason TEXT,
  disabledAt INTEGER,
  failingSince INTEGER,
  warnedAt INTEGER,
  secretSealed TEXT NOT NULL,
  previousSecretSealed TEXT,
  previousSecretUntil INTEGER,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT;
CREATE INDEX webhookEndpointsByTenant ON webhookEndpoints (tenantId, mode, id);
CREATE INDEX webhookEndpointsRotating ON webhookEndpoints (previousSecretUntil)
  WHERE previousSecretUntil IS NOT NULL;

CREATE TABLE webhookDeliveries (
  id TEXT PRIMARY KEY,
  endpointId TEXT NOT NULL,
  tenantId TEXT NOT NULL,
  eventId TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  dueAt INTEGER,
  epoch TEXT,
  responseStatus INTEGER,
  responseTimeMs INTEGER,
  responseBody TEXT,
  error TEXT,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX webhookDeliveriesPending ON webhookDeliveries (endpointId, dueAt) WHERE state = 'pending';
CREATE INDEX webhookDeliveriesLeased ON webhookDeliveries (epoch) WHERE epoch IS NOT NULL;
CREATE INDEX webhookDeliveriesByEndpoint ON webhookDeliveries (endpointId, id);
CREATE INDEX webhookDeliveriesByState ON webhookDeliveries (endpointId, state, id);

CREATE TABLE inboundRoutes (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  address TEXT NOT NULL,
  domain TEXT NOT NULL,
  destination TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  secretSealed TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX inboundRoutesByAddress ON inboundRoutes (tenantId, address);
CREATE INDEX inboundRoutesByTenant ON inboundRoutes (tenantId, id);
`,
};
