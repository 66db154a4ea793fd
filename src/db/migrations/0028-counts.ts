import type { Migration } from '../migration.ts';

/**
 * Adds the counters behind `GET /v1/metrics`. Counting begins with this version; earlier events are not counted. The index is
 * for retention.
 */
export const counts: Migration = {
  id: '0028-counts',
  sql: `
CREATE TABLE counts (
  tenantId TEXT NOT NULL,
  mode TEXT NOT NULL,
  span TEXT NOT NULL,
  start INTEGER NOT NULL,
  kind TEXT NOT NULL,
  domainId TEXT NOT NULL,
  broadcastId TEXT NOT NULL,
  provider TEXT NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0,
  delivered INTEGER NOT NULL DEFAULT 0,
  bouncedPermanent INTEGER NOT NULL DEFAULT 0,
  bouncedTransient INTEGER NOT NULL DEFAULT 0,
  bouncedUndetermined INTEGER NOT NULL DEFAULT 0,
  complained INTEGER NOT NULL DEFAULT 0,
  delayed INTEGER NOT NULL DEFAULT 0,
  suppressed INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  opened INTEGER NOT NULL DEFAULT 0,
  uniqueOpened INTEGER NOT NULL DEFAULT 0,
  machineOpened INTEGER NOT NULL DEFAULT 0,
  clicked INTEGER NOT NULL DEFAULT 0,
  uniqueClicked INTEGER NOT NULL DEFAULT 0,
  machineClicked INTEGER NOT NULL DEFAULT 0,
  unsubscribed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenantId, mode, span, start, kind, domainId, broadcastId, provider)
) STRICT, WITHOUT ROWID;
CREATE INDEX countsByStart ON counts (start);
`,
};
