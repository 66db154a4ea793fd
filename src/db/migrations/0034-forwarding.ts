import type { Migration } from '../migration.ts';

/**
 * Adds what mail of the installation itself needs: a tenant, the key that signs for the host name, and the columns of messages
 * for a return path that the message brings along, for REQUIRETLS, and for the fields that forwarding adds. A tenant that has
 * taken the name of the new one keeps it.
 */
export const forwarding: Migration = {
  id: '0034-forwarding',
  sql: `
INSERT INTO tenants (id, name, plan, createdAt)
SELECT
  'ten_00000000000000000000000000',
  CASE WHEN EXISTS (SELECT 1 FROM tenants WHERE name = 'installation')
    THEN 'installation ' || lower(hex(randomblob(8))) ELSE 'installation' END,
  'unlimited',
  0;

CREATE TABLE installationKeys (
  selector TEXT PRIMARY KEY,
  publicKey TEXT NOT NULL,
  privateKeySealed TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE messages ADD COLUMN returnPath TEXT;
ALTER TABLE messages ADD COLUMN requireTls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN traceFields TEXT;
`,
};
