import type { Migration } from '../migration.ts';

/** Finds the deliveries that several crashes have interrupted, which are retried one at a time (queue/trial.ts). */
export const held: Migration = {
  id: '0005-held',
  sql: `
CREATE INDEX recipientsSuspect ON recipients (dueAt, doubts, id)
  WHERE doubts >= 2 AND state IN ('ready', 'in_flight');
`,
};
