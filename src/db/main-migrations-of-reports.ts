/** The migration of the main database that lets reports about a domain be summed from an index alone, without reading their details. */
import type { Migration } from './migrate.ts';

export const REPORT_SUMS: Migration = {
  id: '0114-report-sums',
  sql: `DROP INDEX receivedReportsByDomain;
CREATE INDEX receivedReportsByDomain ON receivedReports (domainId, id, type, beginAt, passed, failed);
`,
};
