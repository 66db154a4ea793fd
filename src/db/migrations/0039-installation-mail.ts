import type { Migration } from '../migration.ts';

/** Counts the received mail of the installation itself, which was not counted before. */
export const installationMail: Migration = {
  id: '0039-installation-mail',
  sql: `
INSERT INTO storedMail (tenantId, bytes)
SELECT 'ten_00000000000000000000000000', sum(sizeBytes)
FROM receivedMessages
WHERE tenantId IS NULL AND contentDeletedAt IS NULL
HAVING count(*) > 0;
`,
};
