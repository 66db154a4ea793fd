import type { Migration } from '../migration.ts';

/** Lets domains have return paths of their own. DNS has not been asked yet about those of existing domains. */
export const returnPath: Migration = {
  id: '0008-return-path',
  sql: `
ALTER TABLE domains ADD COLUMN returnPathHost TEXT;
UPDATE domains SET records = json_set(
  records,
  '$.RETURN_PATH',
  json('{"status":"pending","lastCheckedAt":null,"found":[],"error":null}')
);
`,
};
