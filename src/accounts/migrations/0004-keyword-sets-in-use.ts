import type { Migration } from '../../db/migration.ts';

/**
 * Finds the messages with a set of keywords, so that sets without messages can be removed. Few messages have keywords. Ids of imports,
 * which are kept for ever, get a time that is never past (delivery-store.ts).
 */
export const keywordSetsInUse: Migration = {
  id: '0004-keyword-sets-in-use',
  sql: `
CREATE INDEX messagesByKeywords ON messages (keywordSetId) WHERE keywordSetId <> 0;
UPDATE deliveries SET at = 9007199254740991 WHERE id LIKE 'import/%';
`,
};
