/** The migrations of the main database that add the people who log in to the dashboard. */
import type { Migration } from './migrate.ts';

export const PEOPLE_MIGRATIONS: readonly Migration[] = [
  /** People who log in to the dashboard, with their sessions, their links and the audit log. */
  {
    id: '0093-people',
    sql: `
CREATE TABLE auditEntries (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  tenantId TEXT,
  personId TEXT,
  actor TEXT NOT NULL,
  address TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  mode TEXT,
  details TEXT NOT NULL
) STRICT;
CREATE INDEX auditByTenant ON auditEntries (tenantId, id);
CREATE TABLE dashboardSessions (
  id TEXT PRIMARY KEY,
  tokenHash TEXT NOT NULL UNIQUE,
  personId TEXT REFERENCES people ON DELETE CASCADE,
  mailboxId TEXT REFERENCES mailboxes ON DELETE CASCADE,
  stage TEXT NOT NULL,
  address TEXT NOT NULL,
  userAgent TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  lastUsedAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL
) STRICT;
CREATE INDEX dashboardSessionsByPerson ON dashboardSessions (personId, id);
CREATE INDEX dashboardSessionsByMailbox ON dashboardSessions (mailboxId, id);
CREATE INDEX dashboardSessionsByExpiry ON dashboardSessions (expiresAt);
CREATE TABLE loginLinks (
  id TEXT PRIMARY KEY,
  tokenHash TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  email TEXT,
  tenantId TEXT REFERENCES tenants,
  role TEXT,
  isOperator INTEGER NOT NULL,
  personId TEXT REFERENCES people ON DELETE CASCADE,
  madeBy TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  usedAt INTEGER
) STRICT;
CREATE INDEX loginLinksByTenant ON loginLinks (tenantId, id);
CREATE INDEX loginLinksByExpiry ON loginLinks (expiresAt);
CREATE TABLE memberships (
  tenantId TEXT NOT NULL REFERENCES tenants,
  personId TEXT NOT NULL REFERENCES people ON DELETE CASCADE,
  role TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  PRIMARY KEY (tenantId, personId)
) STRICT, WITHOUT ROWID;
CREATE INDEX membershipsByPerson ON memberships (personId);
CREATE TABLE people (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  passwordHash TEXT NOT NULL,
  totpSealed TEXT,
  totpStep INTEGER NOT NULL DEFAULT 0,
  isOperator INTEGER NOT NULL,
  language TEXT,
  timeZone TEXT,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE TABLE recoveryCodes (
  personId TEXT NOT NULL REFERENCES people ON DELETE CASCADE,
  codeHash TEXT NOT NULL,
  PRIMARY KEY (personId, codeHash)
) STRICT, WITHOUT ROWID;
`,
  },
  /** Sessions of the owners of mailboxes end when the password changes. */
  {
    id: '0103-passwords-of-sessions',
    sql: 'ALTER TABLE dashboardSessions ADD COLUMN passwordDigest TEXT;',
  },
];
