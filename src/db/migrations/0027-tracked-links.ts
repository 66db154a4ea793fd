import type { Migration } from '../migration.ts';

/**
 * Adds the addresses of tracked links, and the tracking hosts that were right, which the public pages serve for ever: links in
 * mail that was sent lead there.
 */
export const trackedLinks: Migration = {
  id: '0027-tracked-links',
  sql: `
CREATE TABLE trackedLinks (
  ownerId TEXT NOT NULL,
  number INTEGER NOT NULL,
  url TEXT NOT NULL,
  PRIMARY KEY (ownerId, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE trackingHosts (
  host TEXT NOT NULL,
  tenantId TEXT NOT NULL,
  PRIMARY KEY (host, tenantId)
) STRICT, WITHOUT ROWID;

ALTER TABLE domains ADD COLUMN trackingHost TEXT;
ALTER TABLE domains ADD COLUMN trackingCheckedAt INTEGER;
`,
};
