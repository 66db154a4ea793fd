/** The background work of tracking: it classifies each open and click 15 s after it was recorded. */
import type { App } from '../app.ts';
import type { EngagementRow } from '../db/tracking-tables.ts';
import type { Work } from '../system/worker.ts';
import { findNextClassificationAt, listDueEngagements } from './classification/store.ts';
import { classify, readScannerNetworks } from './classify.ts';
import { CLASSIFICATION_DELAY_MS } from './engagements/record.ts';
import { type Classification, settleEngagements } from './settle.ts';

/** Maximum number of engagements that are settled in one write, which then takes about 10 ms. */
const MAX_SETTLED = 200;
/** Minimum time between two batches that are not full, so that a steady flow of clicks is not settled one by one. */
const MIN_PERIOD_MS = 250;

/**
 * Returns the work that classifies engagements. Each call of `lease` settles one batch: an engagement stays due until then,
 * so that a crash or a full disk delays its classification. It is no kind of task, because thousands of engagements may be recorded in a
 * second, and each waits the same time.
 */
export function createClassificationWork(app: Pick<App, 'db' | 'clock' | 'metrics'>): Work<never> {
  const { clock, db } = app;
  const networks = readScannerNetworks();
  const classified = app.metrics.counter('engagements_judged_total', 'Opens and clicks of tracked mail.', [
    'kind',
    'verdict',
  ]);

  async function settleBatch(): Promise<number> {
    const now = clock.now();
    const { engagements, facts } = await db.query(listDueEngagements, { now, limit: MAX_SETTLED });
    if (engagements.length === 0) return 0;
    const factsOf = new Map(facts);
    const classifications: (Classification & Pick<EngagementRow, 'kind'>)[] = [];
    for (const engagement of engagements) {
      const known = factsOf.get(engagement.emailId);
      if (!known) continue;
      const { id, kind } = engagement;
      classifications.push({ id, kind, reason: classify(engagement, known, networks) });
    }
    await db.commit(settleEngagements, { now, classifications });
    for (const { kind, reason } of classifications)
      classified.inc({ kind, verdict: reason === null ? 'human' : 'machine' });
    return engagements.length;
  }

  return {
    name: 'classification of opens and clicks',
    async lease() {
      if ((await settleBatch()) === MAX_SETTLED) return { items: [], nextDueAt: clock.now() };
      const now = clock.now();
      // An engagement that is recorded after this read is not due before the next one.
      const next = (await findNextClassificationAt(db.read)) ?? now + CLASSIFICATION_DELAY_MS;
      return { items: [], nextDueAt: Math.max(next, now + MIN_PERIOD_MS) };
    },
    run: async () => {},
  };
}
