import type { Migration } from '../migration.ts';

/**
 * Adds the registered domains by which reports are counted. Rows of earlier versions count by the whole name; they fall out of the
 * limits, which are about a day.
 */
export const reportShares: Migration = {
  id: '0040-report-shares',
  sql: `
ALTER TABLE receivedReports ADD COLUMN registrableDomain TEXT NOT NULL DEFAULT '';
UPDATE receivedReports SET registrableDomain = reporter;
DROP INDEX receivedReportsByReporter;
CREATE INDEX receivedReportsByRegistrable ON receivedReports (domainId, registrableDomain, id);

ALTER TABLE dmarcReports ADD COLUMN registrableDomain TEXT NOT NULL DEFAULT '';
UPDATE dmarcReports SET registrableDomain = domain;
`,
};
