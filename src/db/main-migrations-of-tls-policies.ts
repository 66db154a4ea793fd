/** The migrations of the main database that add TLS policies of other domains, reports about TLS, and the operator's word on TLS. */
import type { Migration } from './migrate.ts';

export const TLS_POLICIES: Migration = {
  id: '0121-tls-policies',
  sql: `CREATE TABLE stsPolicies (
  domain TEXT PRIMARY KEY,
  policyId TEXT NOT NULL,
  mode TEXT NOT NULL,
  mx TEXT NOT NULL,
  maxAgeSeconds INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  refreshAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX stsPoliciesByRefresh ON stsPolicies (refreshAt);
CREATE INDEX stsPoliciesByExpiry ON stsPolicies (expiresAt);
CREATE TABLE tlsReports (
  day INTEGER NOT NULL,
  domain TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  dueAt INTEGER NOT NULL,
  PRIMARY KEY (day, domain)
) STRICT, WITHOUT ROWID;
CREATE INDEX tlsReportsDue ON tlsReports (dueAt);
CREATE TABLE tlsSessions (
  day INTEGER NOT NULL,
  domain TEXT NOT NULL,
  policy TEXT NOT NULL,
  failure TEXT NOT NULL,
  sessions INTEGER NOT NULL,
  PRIMARY KEY (day, domain, policy, failure)
) STRICT, WITHOUT ROWID;
ALTER TABLE outboundRoutes ADD COLUMN tlsPolicy TEXT;
`,
};

export const TLS_REPORT_DESTINATIONS: Migration = {
  id: '0123-tls-report-destinations',
  sql: "ALTER TABLE tlsReports ADD COLUMN sent TEXT NOT NULL DEFAULT '[]';",
};

/** Each policy of a day is stored once for its domain. Results repeated it, with up to 8 KiB each. */
export const TLS_REPORT_POLICIES: Migration = {
  id: '0131-tls-report-policies',
  sql: `CREATE TABLE tlsReportPolicies (
  day INTEGER NOT NULL,
  domain TEXT NOT NULL,
  number INTEGER NOT NULL,
  policy TEXT NOT NULL,
  PRIMARY KEY (day, domain, number)
) STRICT, WITHOUT ROWID;
INSERT INTO tlsReportPolicies (day, domain, number, policy)
SELECT day, domain, row_number() OVER (PARTITION BY day, domain ORDER BY policy), policy
  FROM (SELECT DISTINCT day, domain, policy FROM tlsSessions);
CREATE TABLE numberedTlsSessions (
  day INTEGER NOT NULL,
  domain TEXT NOT NULL,
  policy INTEGER NOT NULL,
  failure TEXT NOT NULL,
  sessions INTEGER NOT NULL,
  PRIMARY KEY (day, domain, policy, failure)
) STRICT, WITHOUT ROWID;
INSERT INTO numberedTlsSessions (day, domain, policy, failure, sessions)
SELECT tlsSessions.day, tlsSessions.domain, tlsReportPolicies.number, failure, sessions
  FROM tlsSessions JOIN tlsReportPolicies USING (day, domain, policy);
DROP TABLE tlsSessions;
ALTER TABLE numberedTlsSessions RENAME TO tlsSessions;
`,
};
