import type { Migration } from '../migration.ts';

/** Adds further addresses of mailboxes, and lists the mailboxes of a domain by an index. */
export const mailboxAliases: Migration = {
  id: '0048-mailbox-aliases',
  sql: `
CREATE TABLE mailboxAliases (
  address TEXT PRIMARY KEY,
  domain TEXT NOT NULL,
  mailboxId TEXT NOT NULL REFERENCES mailboxes (id),
  tenantId TEXT NOT NULL REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailboxAliasesByMailbox ON mailboxAliases (mailboxId, address);
CREATE INDEX mailboxAliasesByDomain ON mailboxAliases (domain);
CREATE INDEX mailboxAliasesByTenant ON mailboxAliases (tenantId);
CREATE INDEX mailboxesOfName ON mailboxes (domain);
`,
};
