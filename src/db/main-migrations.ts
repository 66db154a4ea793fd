/** The migrations of the main database. A migration that a database has had is not run again, so none is ever changed. */

import { APPROVALS_BY_DOMAIN } from './main-migrations-of-approvals.ts';
import { AUDIT_OUTCOMES } from './main-migrations-of-audit.ts';
import { DRAFTS } from './main-migrations-of-drafts.ts';
import { KEYS_OF_EMAILS } from './main-migrations-of-email-keys.ts';
import { FORWARD_DELAYS } from './main-migrations-of-forward-delays.ts';
import { INDEX_OF_RETRIES, INDEXES_OF_RECEIVED_MAIL, NARROW_INDEXES } from './main-migrations-of-indexes.ts';
import { KEYS_OF_MAILBOXES } from './main-migrations-of-mailbox-keys.ts';
import { MATCHES_AND_SUSPENSIONS } from './main-migrations-of-matches.ts';
import { PEOPLE_MIGRATIONS } from './main-migrations-of-people.ts';
import { MAILBOX_RECOVERY } from './main-migrations-of-recovery.ts';
import { REPORT_SUMS } from './main-migrations-of-reports.ts';
import { SITE_RESTRICTIONS } from './main-migrations-of-restrictions.ts';
import { SENDER_WISHES } from './main-migrations-of-sender-wishes.ts';
import { SENT_FORMS } from './main-migrations-of-sent-forms.ts';
import { SOURCES } from './main-migrations-of-sources.ts';
import { TASK_MIGRATIONS } from './main-migrations-of-tasks.ts';
import {
  TLS_POLICIES,
  TLS_REPORT_DESTINATIONS,
  TLS_REPORT_POLICIES,
} from './main-migrations-of-tls-policies.ts';
import { WEBHOOK_FORMATS } from './main-migrations-of-webhook-formats.ts';
import { INDEX_OF_PLANS, WEIGHTS_OF_PLANS } from './main-migrations-of-weights.ts';
import { ZONES_OF_MAILBOXES } from './main-migrations-of-zones.ts';
import type { Migration } from './migrate.ts';

export const MAIN_MIGRATIONS: readonly Migration[] = [
  ...TASK_MIGRATIONS,
  /** A restored installation keeps back what would leave it. */
  {
    id: '0080-restored-installations',
    sql: 'ALTER TABLE installation ADD COLUMN restoredAt INTEGER;',
  },
  /** Adds what the hourly checks have found, and which of them were reported or are silenced. */
  {
    id: '0081-doctor',
    sql: `
CREATE TABLE doctorFindings (
  checkName TEXT NOT NULL,
  subject TEXT NOT NULL,
  level TEXT NOT NULL,
  says TEXT NOT NULL,
  todo TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (checkName, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE doctorChecks (
  name TEXT PRIMARY KEY,
  mailedAt INTEGER,
  silencedAt INTEGER
) STRICT, WITHOUT ROWID;
`,
  },
  /** Adds the text records of the zone that the built-in name server answers with for a while. */
  {
    id: '0082-zone-texts',
    sql: `
CREATE TABLE zoneTexts (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  expiresAt INTEGER NOT NULL,
  PRIMARY KEY (name, value)
) STRICT, WITHOUT ROWID;
`,
  },
  /** Adds the records that dynamic updates have published. */
  {
    id: '0082-written-records',
    sql: `
CREATE TABLE writtenRecords (
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (name, type, value)
) STRICT, WITHOUT ROWID;
`,
  },
  /** Routes of outgoing mail, which the operator sets. */
  {
    id: '0083-outbound-routes',
    sql: `
CREATE TABLE outboundRoutes (
  name TEXT PRIMARY KEY,
  tenantId TEXT REFERENCES tenants,
  domain TEXT,
  hosts TEXT,
  port INTEGER NOT NULL,
  tls TEXT NOT NULL,
  tlsName TEXT,
  authorities TEXT,
  isPrivate INTEGER NOT NULL,
  user TEXT,
  passwordSealed TEXT,
  connections INTEGER,
  recipientsPerMinute INTEGER,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX outboundRoutesByMail ON outboundRoutes (coalesce(tenantId, ''), coalesce(domain, ''));
`,
  },
  /**
   * Keys of domains that are published beside the one that signs, and a selector for the next key of each domain: the last characters of its
   * id, which are random and the same however often the migration begins anew.
   */
  {
    id: '0084-domain-keys',
    sql: `
CREATE TABLE domainKeys (
  domainId TEXT NOT NULL REFERENCES domains ON DELETE CASCADE,
  selector TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  state TEXT NOT NULL,
  publicKey TEXT NOT NULL,
  privateKeySealed TEXT,
  since INTEGER NOT NULL,
  PRIMARY KEY (domainId, selector)
) STRICT, WITHOUT ROWID;
INSERT INTO domainKeys (domainId, selector, algorithm, state, publicKey, since)
  SELECT id, 'pr' || lower(substr(id, -8)), 'rsa', 'unused', '', 0 FROM domains WHERE deletedAt IS NULL;
`,
  },
  /** Adds what was said in the sessions of attempts that did not deliver. */
  {
    id: '0085-conversations',
    sql: `
CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  messageId TEXT NOT NULL REFERENCES messages ON DELETE CASCADE,
  tenantId TEXT NOT NULL,
  at INTEGER NOT NULL,
  site TEXT NOT NULL,
  lines TEXT NOT NULL
) STRICT;
CREATE INDEX conversationsByMessage ON conversations (messageId, id);
`,
  },
  /** Tenants that the operator has suspended, and those that are being deleted. */
  {
    id: '0086-status-of-tenants',
    sql: `
ALTER TABLE tenants ADD COLUMN status TEXT NOT NULL DEFAULT 'active';
CREATE INDEX tenantsInactive ON tenants (id) WHERE status <> 'active';
`,
  },
  /** Finds the reports of a tenant that is deleted. */
  {
    id: '0086-tenants-of-reports',
    sql: `
CREATE INDEX receivedReportsByTenant ON receivedReports (tenantId);
`,
  },
  /** A finding has advice, as the meaning of a reply has. */
  {
    id: '0087-advice-of-findings',
    sql: 'ALTER TABLE doctorFindings RENAME COLUMN todo TO advice;',
  },
  /** The time of the last run of each check, which is shown beside its findings. */
  {
    id: '0087-runs-of-checks',
    sql: 'ALTER TABLE doctorChecks ADD COLUMN ranAt INTEGER;',
  },
  /** Mail that waits for the approval of a person, and the keys whose mail does. */
  {
    id: '0088-approvals',
    sql: `
ALTER TABLE apiKeys ADD COLUMN requiresApproval TEXT;
ALTER TABLE recipients ADD COLUMN holdReason TEXT;
ALTER TABLE confirmationRequests ADD COLUMN askedBy TEXT;
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants,
  mode TEXT NOT NULL,
  domainId TEXT,
  kind TEXT NOT NULL,
  reference TEXT NOT NULL,
  hash TEXT NOT NULL,
  state TEXT NOT NULL,
  keyId TEXT NOT NULL,
  fromHeader TEXT NOT NULL,
  subject TEXT NOT NULL,
  sendAt INTEGER,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  decidedAt INTEGER,
  decidedBy TEXT,
  reason TEXT
) STRICT;
CREATE INDEX approvalsByReference ON approvals (reference, id);
CREATE INDEX approvalsByTenant ON approvals (tenantId, mode, id);
CREATE INDEX approvalsByState ON approvals (tenantId, mode, state, id);
`,
  },
  /** Adds the reply that each tenant has chosen for the simulator. */
  {
    id: '0089-simulator-replies',
    sql: `
CREATE TABLE simulatorReplies (
  tenantId TEXT PRIMARY KEY,
  code INTEGER NOT NULL,
  enhancedCode TEXT,
  text TEXT NOT NULL,
  recipients TEXT NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
  /** Adds the log of the last requests to the API. */
  {
    id: '0090-request-log',
    sql: `
CREATE TABLE requestLog (
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  id TEXT NOT NULL,
  keyId TEXT NOT NULL,
  method TEXT NOT NULL,
  route TEXT,
  path TEXT NOT NULL,
  status INTEGER NOT NULL,
  errorType TEXT,
  durationMs INTEGER NOT NULL,
  requestBytes INTEGER,
  responseBytes INTEGER,
  address TEXT NOT NULL,
  PRIMARY KEY (tenantId, mode, id)
) STRICT, WITHOUT ROWID;
`,
  },
  /** Adds the versions of templates. The content of a template becomes its first version when it is next changed. */
  {
    id: '0091-template-versions',
    sql: `
CREATE TABLE templateVersions (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL,
  templateId TEXT NOT NULL REFERENCES templates ON DELETE CASCADE,
  subject TEXT NOT NULL,
  htmlHash TEXT NOT NULL,
  textHash TEXT,
  keyId TEXT,
  personId TEXT,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX templateVersionsByTemplate ON templateVersions (templateId, id);
CREATE TABLE templateTexts (
  templateId TEXT NOT NULL REFERENCES templates ON DELETE CASCADE,
  tenantId TEXT NOT NULL,
  hash TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (templateId, hash)
) STRICT;
`,
  },
  /** Adds the branding of tenants. */
  {
    id: '0092-branding',
    sql: `
CREATE TABLE brandings (
  tenantId TEXT PRIMARY KEY REFERENCES tenants,
  name TEXT,
  color TEXT,
  textColor TEXT,
  darkColor TEXT,
  darkTextColor TEXT,
  logoHash TEXT,
  logoWidth INTEGER,
  logoHeight INTEGER,
  updatedAt INTEGER NOT NULL,
  logo BLOB
) STRICT;
CREATE INDEX brandingsByLogo ON brandings (logoHash);
`,
  },
  ...PEOPLE_MIGRATIONS,
  /** The number of recipients that wait for the operator, and not for an approval, follows from an index alone. */
  {
    id: '0104-reasons-of-held-mail',
    sql: "CREATE INDEX recipientsHeldByReason ON recipients (holdReason) WHERE state = 'held';",
  },
  /** Passkeys. The secrets of one-time codes leave the audit log, which had them for a time. */
  {
    id: '0105-passkeys',
    sql: `CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  personId TEXT NOT NULL REFERENCES people ON DELETE CASCADE,
  credentialId TEXT NOT NULL UNIQUE,
  publicKey BLOB NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  name TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  lastUsedAt INTEGER
) STRICT;
CREATE INDEX passkeysByPerson ON passkeys (personId, id);
UPDATE auditEntries SET details = '{}' WHERE action = 'account totpOn';
`,
  },
  /** Accounts of people at an issuer of OpenID Connect. */
  {
    id: '0105-subjects-of-issuers',
    sql: `CREATE TABLE issuerSubjects (
  personId TEXT NOT NULL REFERENCES people ON DELETE CASCADE,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  PRIMARY KEY (personId, issuer)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX issuerSubjectsBySubject ON issuerSubjects (issuer, subject);
`,
  },
  DRAFTS,
  /** Messages are found by the Message-IDs that others have made. */
  {
    id: '0107-message-ids',
    sql: `CREATE INDEX emailsByMessageId ON emails (tenantId, mode, rfcMessageId, id) WHERE substr(rfcMessageId, 1, 3) <> 'em_';
CREATE INDEX receivedMessagesByMessageId ON receivedMessages (tenantId, messageId, id) WHERE isForRoute = 1;
`,
  },
  APPROVALS_BY_DOMAIN,
  /** Lines of the audit log count what is done again and again, and have no contents of mail any more. */
  {
    id: '0110-audit-log',
    sql: `ALTER TABLE auditEntries ADD COLUMN mailboxId TEXT;
ALTER TABLE auditEntries ADD COLUMN times INTEGER NOT NULL DEFAULT 1;
CREATE INDEX auditByPerson ON auditEntries (personId, id);
CREATE INDEX auditByMailbox ON auditEntries (mailboxId, id);
UPDATE auditEntries SET details = '{}' WHERE action LIKE 'mailbox%' OR length(details) > 1000;
`,
  },
  /** A link ends with the right of the person who has made it. */
  {
    id: '0110-makers-of-links',
    sql: 'ALTER TABLE loginLinks ADD COLUMN makerId TEXT;',
  },
  MAILBOX_RECOVERY,
  AUDIT_OUTCOMES,
  SENT_FORMS,
  REPORT_SUMS,
  KEYS_OF_EMAILS,
  ZONES_OF_MAILBOXES,
  KEYS_OF_MAILBOXES,
  WEBHOOK_FORMATS,
  SITE_RESTRICTIONS,
  SOURCES,
  NARROW_INDEXES,
  TLS_POLICIES,
  TLS_REPORT_DESTINATIONS,
  INDEXES_OF_RECEIVED_MAIL,
  FORWARD_DELAYS,
  SENDER_WISHES,
  MATCHES_AND_SUSPENSIONS,
  INDEX_OF_RETRIES,
  WEIGHTS_OF_PLANS,
  INDEX_OF_PLANS,
  TLS_REPORT_POLICIES,
];
