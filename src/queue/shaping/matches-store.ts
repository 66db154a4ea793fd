/** Stores how often back-off rules were met, so that a restart forgets no matches. All SQL of their table is here, and nothing else writes it. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { RuleMatchesRow } from '../../db/queue-tables.ts';
import { deleteRows, putRow } from '../../db/rows.ts';
import { MAX_WINDOWS, type Window } from './windows.ts';

/** Maximum number of rows that one write deletes because there are too many. */
const MAX_DELETED = 1_000;

type Recorded = { windows: readonly Window[]; forgotten: readonly Window['id'][]; now: number };

/** Stores counts in place of earlier ones, and deletes those that are forgotten, that mean nothing any more, and that are too many. */
export const recordMatches = defineWrite(
  'queue.recordMatches',
  async (tx, { windows, forgotten, now }: Recorded): Promise<void> => {
    await tx.deleteFrom('ruleMatches').where('staleAt', '<=', now).execute();
    for (const id of forgotten) await deleteRows(tx, 'ruleMatches', { id });
    for (const window of windows) await putRow(tx, 'ruleMatches', rowOf(window));
    const tooMany = tx
      .selectFrom('ruleMatches')
      .select('id')
      .orderBy('staleAt', 'desc')
      .limit(MAX_DELETED)
      .offset(MAX_WINDOWS);
    await tx.deleteFrom('ruleMatches').where('id', 'in', tooMany).execute();
  },
  { priority: 'bulk' },
);

/** Returns the counts that still mean something, those that were met last at the end. Times are in Unix milliseconds. */
export async function listMatches(tx: Tx, now: number): Promise<Window[]> {
  const rows = await tx
    .selectFrom('ruleMatches')
    .selectAll()
    .where('staleAt', '>', now)
    .orderBy('staleAt', 'desc')
    .limit(MAX_WINDOWS)
    .execute();
  return rows.reverse().map(({ times, ...row }) => ({ ...row, times: JSON.parse(times) }));
}

function rowOf({ times, tenantId, ...window }: Window): RuleMatchesRow {
  return {
    ...window,
    tenantId: tenantId as RuleMatchesRow['tenantId'],
    times: JSON.stringify(times),
  };
}
