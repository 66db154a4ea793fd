import type { Migration } from '../migration.ts';

/** Finds the messages of a mailbox that wait for their recipients, whose size is limited. */
export const waitingMailOfMailboxes: Migration = {
  id: '0054-waiting-mail-of-mailboxes',
  sql: `
CREATE INDEX messagesOfMailboxes ON messages (mailboxId) WHERE mailboxId IS NOT NULL;
`,
};
