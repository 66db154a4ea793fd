import type { Migration } from '../migration.ts';

/** Domains may have return paths of their own. Those that exist have not been asked about theirs yet. */
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
