/** The schema of the main database: its tables, and the rows that a new database begins with. */
import { AUDIT_GUARDS } from './audit-guards.ts';
import { createTables } from './create-tables.ts';
import { MAIN_MIGRATIONS } from './main-migrations.ts';
import type { Schema } from './migrate.ts';
import { TABLES } from './tables.ts';

/** App passwords and API keys of a member go with the membership. */
const TRIGGERS = `
CREATE TRIGGER appPasswordsOfMembers AFTER DELETE ON mailboxMembers BEGIN
  DELETE FROM appPasswords WHERE mailboxId = OLD.mailboxId AND memberId = OLD.memberId;
END;
CREATE TRIGGER apiKeysOfMembers AFTER DELETE ON mailboxMembers BEGIN
  DELETE FROM apiKeys WHERE mailboxId = OLD.mailboxId AND memberId = OLD.memberId;
END;
`;

/** The tenant is that of the installation itself (tenants/installation.ts). */
const FIRST_ROWS = `
INSERT INTO plans (name, monthlyEmails, requestsPerSecond, createdAt)
VALUES ('free', 3000, 5, 0), ('unlimited', NULL, NULL, 0);
INSERT INTO tenants (id, name, plan, createdAt)
VALUES ('ten_00000000000000000000000000', 'installation', 'unlimited', 0);
`;

export const MAIN_SCHEMA: Schema = {
  creation: createTables(TABLES) + TRIGGERS + AUDIT_GUARDS + FIRST_ROWS,
  oldest: '0065-classes-of-replies',
  migrations: MAIN_MIGRATIONS,
};
