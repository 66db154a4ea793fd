/** The migration of the main database that finds emails by the API key that has sent them. */
import type { Migration } from './migrate.ts';

/** Earlier emails have no key: it was not stored. */
export const KEYS_OF_EMAILS: Migration = {
  id: '0115-keys-of-emails',
  sql: `ALTER TABLE emails ADD COLUMN apiKeyId TEXT;
CREATE INDEX emailsByApiKey ON emails (apiKeyId, id) WHERE apiKeyId IS NOT NULL;
`,
};
