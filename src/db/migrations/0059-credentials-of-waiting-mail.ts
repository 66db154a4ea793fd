import type { Migration } from '../migration.ts';

/** Adds with which credential people have handed in their mail, so that what is held is canceled when the credential is replaced. */
export const credentialsOfWaitingMail: Migration = {
  id: '0059-credentials-of-waiting-mail',
  sql: 'ALTER TABLE submittedMessages ADD COLUMN handedInWith TEXT;',
};
