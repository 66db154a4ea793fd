import type { Migration } from '../migration.ts';

/** Adds the index of deliveries that several crashes have interrupted and that are retried one at a time (queue/held/trial.ts). */
export const held: Migration = {
  id: '0005-held',
  sql: `
CREATE INDEX recipientsSuspect ON recipients (dueAt, doubts, id)
  WHERE doubts >= 2 AND state IN ('ready', 'in_flight');
`,
};
