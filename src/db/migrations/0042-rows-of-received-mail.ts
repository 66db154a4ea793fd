import type { Migration } from '../migration.ts';

/** Counts 3 KiB for the rows of each message that a tenant has received, which were not counted before. */
export const rowsOfReceivedMail: Migration = {
  id: '0042-rows-of-received-mail',
  sql: `
INSERT INTO storedMail (tenantId, bytes)
SELECT tenantId, count(*) * 3072
FROM receivedMessages
WHERE tenantId IS NOT NULL
GROUP BY tenantId
ON CONFLICT (tenantId) DO UPDATE SET bytes = bytes + excluded.bytes;
`,
};
