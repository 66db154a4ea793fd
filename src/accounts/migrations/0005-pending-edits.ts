import type { Migration } from '../../db/migration.ts';

/**
 * Adds the edits of flags that the rows of messages do not have yet. A STORE of many messages commits some numbers, and its rows are
 * written afterwards.
 */
export const pendingEdits: Migration = {
  id: '0005-pending-edits',
  sql: `
CREATE TABLE pendingEdits (
  folderId INTEGER NOT NULL,
  modseq INTEGER NOT NULL,
  uidFrom INTEGER NOT NULL,
  uidTo INTEGER NOT NULL,
  keptFlags INTEGER NOT NULL,
  addedFlags INTEGER NOT NULL,
  keywordSetId INTEGER,
  unchangedSince INTEGER,
  PRIMARY KEY (folderId, modseq, uidFrom)
) STRICT, WITHOUT ROWID;
`,
};
