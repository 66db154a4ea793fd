import type { Migration } from '../migration.ts';

/** Counts the stored reports of other servers, which were not counted before: 1 KiB for a row, and the size of its details. */
export const reportsInPlans: Migration = {
  id: '0044-reports-in-plans',
  sql: `
INSERT INTO storedMail (tenantId, bytes)
SELECT tenantId, sum(1024 + length(CAST(details AS BLOB)))
FROM receivedReports
WHERE true
GROUP BY tenantId
ON CONFLICT (tenantId) DO UPDATE SET bytes = bytes + excluded.bytes;
`,
};
