import type { Migration } from '../migration.ts';

/**
 * Adds what decides who receives mail for a domain: the time since which its verification has stood, and the finding about its
 * MX records, which DNS has not been asked about yet. For domains that are verified already, the time of the last check that
 * found all records is the best evidence there is. Plans gain a limit of stored mail, and tenants a counter of it.
 */
export const receiving: Migration = {
  id: '0033-receiving',
  sql: `
ALTER TABLE domains ADD COLUMN verifiedSince INTEGER;
UPDATE domains SET verifiedSince = verifiedAt
WHERE status IN ('verified', 'temporary_failure') AND deletedAt IS NULL;
UPDATE domains SET records = json_set(
  records,
  '$.MX',
  json('{"status":"pending","lastCheckedAt":null,"found":[],"error":null}')
);
CREATE INDEX domainsReceiving ON domains (name, verifiedSince, id) WHERE verifiedSince IS NOT NULL;

ALTER TABLE plans ADD COLUMN storedMegabytes INTEGER;
CREATE TABLE storedMail (
  tenantId TEXT PRIMARY KEY REFERENCES tenants (id),
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX inboundRoutesOfAll ON inboundRoutes (address);
`,
};
