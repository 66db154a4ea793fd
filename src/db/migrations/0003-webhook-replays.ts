import type { Migration } from '../migration.ts';

/** Adds the progress of webhook replays that are too large for one write. */
export const webhookReplays: Migration = {
  id: '0003-webhook-replays',
  sql: `
CREATE TABLE webhookReplays (
  endpointId TEXT NOT NULL,
  state TEXT NOT NULL,
  afterId TEXT NOT NULL,
  beforeId TEXT NOT NULL,
  PRIMARY KEY (endpointId, state)
) STRICT;
`,
};
