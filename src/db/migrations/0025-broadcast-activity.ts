import type { Migration } from '../migration.ts';

/**
 * Adds what readers did with the copies of broadcasts: for each copy, for each link, and for each contact the latest time.
 * Segments and lists read it.
 */
export const broadcastActivity: Migration = {
  id: '0025-broadcast-activity',
  sql: `
CREATE TABLE broadcastEngagements (
  broadcastId TEXT NOT NULL,
  contactId TEXT NOT NULL,
  openedAt INTEGER,
  clickedAt INTEGER,
  links TEXT NOT NULL,
  PRIMARY KEY (broadcastId, contactId)
) STRICT, WITHOUT ROWID;

CREATE TABLE broadcastLinks (
  broadcastId TEXT NOT NULL,
  number INTEGER NOT NULL,
  clicks INTEGER NOT NULL,
  uniqueClicks INTEGER NOT NULL,
  machineClicks INTEGER NOT NULL,
  PRIMARY KEY (broadcastId, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE contactActivity (
  audienceId TEXT NOT NULL,
  contactId TEXT NOT NULL,
  deliveredAt INTEGER,
  openedAt INTEGER,
  clickedAt INTEGER,
  PRIMARY KEY (audienceId, contactId)
) STRICT, WITHOUT ROWID;
`,
};
