/** Counts who would get a marketing mail, on reader threads and in slices, so that a million contacts block nobody. */
import type { App } from '../../app.ts';
import type { ContactRow } from '../../db/marketing-tables.ts';
import type { Scans } from '../segments/scan.ts';
import { countReach, type Reach, type ReachQuery } from './store.ts';

export type ReachCounts = Record<Reach, number> & {
  /** Newest contact that would get the mail; undefined when nobody would. */
  newest: ContactRow['id'] | undefined;
};

/**
 * Counts the contacts of an audience or a segment by what the mail would mean for them. When `gone` is aborted, the scan
 * ends and rejects with its reason.
 * @throws AppError unavailable while too many scans are running
 */
export async function countReached(
  { db, scans }: Pick<App, 'db'> & { scans: Scans },
  query: ReachQuery,
  gone?: AbortSignal,
): Promise<ReachCounts> {
  const total: ReachCounts = {
    receives: 0,
    suppressed: 0,
    unsubscribed: 0,
    optedOut: 0,
    notOptedIn: 0,
    newest: undefined,
  };
  await scans.visit(
    query,
    async (idRange) => {
      const { counts, tookMs } = await db.query(countReach, { ...query, idRange });
      for (const { reach, count, newest } of counts) {
        total[reach] += count;
        if (reach === 'receives' && (total.newest ?? '') < newest) total.newest = newest;
      }
      return { tookMs };
    },
    gone,
  );
  return total;
}
