import type { Migration } from '../migration.ts';

/**
 * Drops the random tokens of return paths, whose addresses now carry the id of the email and are authenticated. Adds the domain
 * of the address for complaints. Mail of earlier versions has none.
 */
export const returnPathTokens: Migration = {
  id: '0031-return-path-tokens',
  sql: `
ALTER TABLE messages DROP COLUMN returnToken;
ALTER TABLE messages ADD COLUMN complaintHost TEXT;
`,
};
