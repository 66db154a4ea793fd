import type { Migration } from '../migration.ts';

/** Adds what DMARC reports are made of: one row for each day and domain, and one for each kind of its mail. */
export const dmarcReports: Migration = {
  id: '0035-dmarc-reports',
  sql: `
CREATE TABLE dmarcReports (
  day INTEGER NOT NULL,
  domain TEXT NOT NULL,
  observations INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  dueAt INTEGER NOT NULL,
  PRIMARY KEY (day, domain)
) STRICT, WITHOUT ROWID;
CREATE INDEX dmarcReportsDue ON dmarcReports (dueAt);

CREATE TABLE dmarcObservations (
  day INTEGER NOT NULL,
  domain TEXT NOT NULL,
  observation TEXT NOT NULL,
  messages INTEGER NOT NULL,
  PRIMARY KEY (day, domain, observation)
) STRICT, WITHOUT ROWID;
`,
};
