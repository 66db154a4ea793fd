/** The first migrations of the main database: those that moved all background work to tasks, and those of certificates and of the queue. */
import type { Migration } from './migrate.ts';

export const TASK_MIGRATIONS: readonly Migration[] = [
  /** Adds the tasks of the engine for background work. Each index has the tasks of one state alone. */
  {
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
  },
  /** Moves the posts that wait, of webhooks and of routes, to the tasks. What had been leased is interrupted, and due at once. */
  {
    id: '0070-post-tasks',
    sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT 'webhooks', id, endpointId, tenantId,
       CASE WHEN runId IS NULL THEN coalesce(dueAt, createdAt) ELSE createdAt END, attempts
  FROM webhookDeliveries WHERE state = 'pending';
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT DISTINCT 'webhook-replays', replay.endpointId, replay.endpointId, endpoint.tenantId, 0, 0
  FROM webhookReplays AS replay JOIN webhookEndpoints AS endpoint ON endpoint.id = replay.endpointId;
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT 'route-posts', id, queue, tenantId,
       CASE WHEN runId IS NULL THEN coalesce(dueAt, createdAt) ELSE createdAt END, attempts
  FROM receivedTasks WHERE state = 'pending' AND kind = 'post';
UPDATE receivedTasks SET dueAt = NULL, runId = NULL WHERE state = 'pending' AND kind = 'post';
CREATE INDEX receivedPostsPending ON receivedTasks (queue, id) WHERE state = 'pending' AND kind = 'post';
DROP INDEX webhookDeliveriesPending;
DROP INDEX webhookDeliveriesLeased;
ALTER TABLE webhookDeliveries DROP COLUMN dueAt;
ALTER TABLE webhookDeliveries DROP COLUMN runId;
`,
  },
  /**
   * Stores how far the pass through the copies in the queue has come that follows a resume or a cancel. It was kept in memory, and
   * began again at each start: so do the passes of the runs that are due.
   */
  {
    id: '0071-passes-of-runs',
    sql: `
ALTER TABLE broadcastRuns ADD COLUMN passAfter TEXT;
UPDATE broadcastRuns SET passAfter = '' WHERE dueAt IS NOT NULL AND startedAt IS NOT NULL;
`,
  },
  /**
   * Imports and exports that have not ended, imports of mail, folders of deleted mailboxes, and checks of
   * domains become tasks. Jobs that ran or waited for a
   * retry are due at once.
   */
  {
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
  },
  /** Confirmation mails that are still to be made become tasks. */
  {
    id: '0073-tasks-of-confirmations',
    sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
SELECT 'confirmations', CAST(id AS TEXT), tenantId, tenantId, dueAt FROM confirmationRequests;
DROP INDEX confirmationRequestsDue;
ALTER TABLE confirmationRequests DROP COLUMN dueAt;
`,
  },
  /**
   * Moves the tasks of received messages that wait to the tasks of the engine; posts were moved before. What had been leased is
   * interrupted, and due at once.
   */
  {
    id: '0074-received-tasks',
    sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts)
SELECT 'received-' || kind, id, iif(queue = '', 'installation', queue), tenantId,
       CASE WHEN runId IS NULL THEN coalesce(dueAt, createdAt) ELSE createdAt END, attempts
  FROM receivedTasks WHERE state = 'pending' AND kind <> 'post';
UPDATE receivedTasks SET dueAt = NULL, runId = NULL WHERE state = 'pending' AND kind <> 'post';
DROP INDEX receivedTasksLeased;
`,
  },
  /** Steps of broadcasts that are due become tasks. */
  {
    id: '0075-tasks-of-broadcasts',
    sql: `
INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
SELECT 'broadcasts', broadcastId, tenantId, tenantId, dueAt FROM broadcastRuns WHERE dueAt IS NOT NULL;
DROP INDEX broadcastRunsDue;
ALTER TABLE broadcastRuns DROP COLUMN dueAt;
`,
  },
  /** Notifications about failed forwards, and checks of what people have sent, become tasks. */
  {
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
  },
  /**
   * A tracking host belongs to a domain, and is forgotten with it. Hosts of earlier domains go; each other one goes to the domain of its tenant
   * that names it, or else to the one with the longest name above it.
   */
  {
    id: '0077-owners-of-tracking-hosts',
    sql: `
CREATE TABLE trackingHostsOfDomains (
  host TEXT NOT NULL,
  domainId TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (host, domainId)
) STRICT, WITHOUT ROWID;
INSERT INTO trackingHostsOfDomains (host, domainId, since)
SELECT host, domainId, coalesce(domains.verifiedAt, domains.createdAt)
  FROM (
    SELECT known.host AS host, (
      SELECT id FROM domains
       WHERE domains.tenantId = known.tenantId AND deletedAt IS NULL
         AND substr(known.host, -length(name) - 1) = '.' || name
       ORDER BY trackingSubdomain IS known.host DESC, length(name) DESC LIMIT 1
    ) AS domainId
    FROM trackingHosts AS known
  ) JOIN domains ON domains.id = domainId;
DROP TABLE trackingHosts;
ALTER TABLE trackingHostsOfDomains RENAME TO trackingHosts;
CREATE INDEX trackingHostsByDomain ON trackingHosts (domainId, since);
`,
  },
  /** Adds the accounts with authorities, the certificates that they issue, and the orders of the last day. */
  {
    id: '0078-certificates-by-acme',
    sql: `
CREATE TABLE acmeAccounts (
  directory TEXT NOT NULL PRIMARY KEY,
  url TEXT,
  issuer TEXT,
  privateKeySealed TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE acmeCertificates (
  name TEXT NOT NULL PRIMARY KEY,
  tenantId TEXT,
  directory TEXT NOT NULL,
  privateKeySealed TEXT NOT NULL,
  nextKeySealed TEXT,
  chain TEXT,
  orderUrl TEXT,
  issuedAt INTEGER,
  renewAt INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  lastError TEXT,
  lastErrorAt INTEGER,
  nextAttemptAt INTEGER,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE TABLE acmeOrders (
  at INTEGER NOT NULL,
  name TEXT NOT NULL,
  tenantId TEXT NOT NULL,
  PRIMARY KEY (at, name)
) STRICT, WITHOUT ROWID;
`,
  },
  /** Adds what the operator does with the queue, and the sites of domains. */
  {
    id: '0079-queue-control',
    sql: `
CREATE TABLE queueActions (
  id TEXT PRIMARY KEY NOT NULL,
  verb TEXT NOT NULL,
  emailId TEXT,
  domain TEXT,
  site TEXT,
  tenantId TEXT,
  kind TEXT,
  class TEXT,
  reason TEXT,
  target TEXT,
  createdAt INTEGER NOT NULL,
  matched INTEGER NOT NULL,
  changed INTEGER NOT NULL DEFAULT 0,
  queueCursor TEXT NOT NULL,
  messageCursor TEXT NOT NULL,
  finishedAt INTEGER,
  isInForce INTEGER NOT NULL
) STRICT;
CREATE INDEX queueActionsInForce ON queueActions (id) WHERE isInForce = 1;
CREATE TABLE domainSites (
  domain TEXT PRIMARY KEY NOT NULL,
  site TEXT NOT NULL,
  seenAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
DROP INDEX recipientsDueByLane;
CREATE INDEX recipientsDueByLane ON recipients (queue, dueAt, state) WHERE state IN ('ready', 'deferred');
DROP INDEX recipientsHeld;
CREATE INDEX recipientsHeld ON recipients (queue, messageId) WHERE state = 'held';
`,
  },
];
