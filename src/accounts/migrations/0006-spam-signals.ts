import type { Migration } from '../../db/migration.ts';

/** Adds what the owner has said about messages: that they are spam, or that they are not. */
export const spamSignals: Migration = {
  id: '0006-spam-signals',
  sql: `
CREATE TABLE spamSignals (
  emailId TEXT PRIMARY KEY,
  verdict TEXT NOT NULL,
  modseq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spamSignalsByModseq ON spamSignals (modseq);
`,
};
