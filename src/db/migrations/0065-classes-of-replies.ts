import type { Migration } from '../migration.ts';

/** Adds what the last reply about a recipient means. */
export const classesOfReplies: Migration = {
  id: '0065-classes-of-replies',
  sql: `
ALTER TABLE recipients ADD COLUMN class TEXT;
ALTER TABLE recipients ADD COLUMN advice TEXT;
`,
};
