import type { Migration } from '../migration.ts';

/** Remembers on which days mail to an address bounced in a way that makes a bad address likely. */
export const bounceEvidence: Migration = {
  id: '0064-bounce-evidence',
  sql: `
CREATE TABLE bounceEvidence (
  tenantId TEXT NOT NULL,
  address TEXT NOT NULL,
  day INTEGER NOT NULL,
  at INTEGER NOT NULL,
  emailId TEXT NOT NULL,
  row TEXT NOT NULL,
  PRIMARY KEY (tenantId, address, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX bounceEvidenceByAge ON bounceEvidence (at);
`,
};
