import type { Migration } from '../migration.ts';

/** Names the topic of marketing mail in the spool, so that each attempt can ask whether the reader has opted out since. */
export const messageTopic: Migration = {
  id: '0019-message-topic',
  sql: `
ALTER TABLE messages ADD COLUMN topicId TEXT;
UPDATE messages SET topicId = (SELECT topicId FROM emails WHERE emails.id = messages.id) WHERE kind = 'broadcast';
`,
};
