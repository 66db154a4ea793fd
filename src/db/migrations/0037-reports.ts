import type { Migration } from '../migration.ts';

/**
 * Adds the reports of other servers about the mail of domains. A reporter's report is stored once. Rows outlive their domain
 * until retention deletes them.
 */
export const reports: Migration = {
  id: '0037-reports',
  sql: `
CREATE TABLE receivedReports (
  id TEXT PRIMARY KEY,
  tenantId TEXT NOT NULL REFERENCES tenants (id),
  domainId TEXT NOT NULL,
  type TEXT NOT NULL,
  reporter TEXT NOT NULL,
  organization TEXT NOT NULL,
  reportId TEXT NOT NULL,
  beginAt INTEGER NOT NULL,
  endAt INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  details TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX receivedReportsOnce ON receivedReports (domainId, type, reporter, reportId, beginAt);
CREATE INDEX receivedReportsByDomain ON receivedReports (domainId, id);
CREATE INDEX receivedReportsByReporter ON receivedReports (domainId, reporter, id);
`,
};
