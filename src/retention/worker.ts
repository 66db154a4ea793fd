/**
 * Runs the passes of retention. A pass takes the steps of the features one after another, slice by slice. Each slice is a
 * separate write, so a crash between two slices loses nothing: the next pass continues with the remaining rows. A pass
 * begins only after the wall clock has run evenly for an hour, so that a clock that jumps years ahead and is soon
 * corrected deletes nothing.
 */
import type { App } from '../app.ts';
import type { ExpiryStep } from '../db/expiry.ts';
import { releasePages } from '../db/free-pages.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Work } from '../system/worker.ts';

/** Time from the start of the daemon, or the end of a pass, to the beginning of the next pass. */
const PERIOD_MS = 3_600_000;
/**
 * Maximum difference between the wall clock and the monotonic clock over one period. NTP corrects smaller steps every
 * day.
 */
const MAX_DRIFT_MS = 60_000;
/**
 * Pause after each slice: at least 20 ms, and at least three times the duration of the slice with its wait for the
 * writer, so that other writes get at least three quarters of the writer's time.
 */
const MIN_PAUSE_MS = 20;
const PAUSE_PER_SLICE = 3;
/** Number of pages in a slice. A slice takes between one and a few milliseconds on an SSD, flush included. */
const PAGES = { first: 64, min: 8, max: 256 };

/**
 * Returns the work of retention. Each call of `lease` runs one slice, so a stopping daemon waits for at most one slice,
 * and a failed slice is retried. Free pages are given back after the steps of the features.
 */
export function createRetentionWork(app: App, featureSteps: readonly ExpiryStep[]): Work<never> {
  const { clock, log } = app;
  const deletions = app.metrics.counter(
    'retention_deleted_total',
    'Rows deleted by retention, and pages given back.',
    ['kind'],
  );
  const steps = [...featureSteps, freePagesStep(app)];
  let pass: Pass | undefined;
  /** Times of both clocks at the beginning of the wait for the next pass. */
  let since = readClocks(clock);
  /** Time of the next slice on the monotonic clock, in milliseconds. */
  let dueAt = since.elapsed + PERIOD_MS;

  function waitForPass(): void {
    pass = undefined;
    since = readClocks(clock);
    dueAt = since.elapsed + PERIOD_MS;
  }

  function endPass({ deleted }: Pass): void {
    if (Object.keys(deleted).length > 0) log.info(deleted, 'retention deleted what had expired');
    waitForPass();
  }

  async function continuePass(): Promise<void> {
    if (!pass && driftMs(since, readClocks(clock)) > MAX_DRIFT_MS) return waitForPass();
    pass ??= beginPass(clock.now());
    const step = steps[pass.step];
    if (!step) return endPass(pass);
    const begunAt = clock.elapsed();
    const { next, deleted } = await step.expire(pass.now, { after: pass.after, rows: step.size.rows });
    app.crashPoint('retention-between-slices');
    if (deleted > 0) {
      deletions.inc({ kind: step.kind }, deleted);
      pass.deleted[step.kind] = (pass.deleted[step.kind] ?? 0) + deleted;
    }
    pass.after = next ?? '';
    if (next === undefined) pass.step++;
    const endedAt = clock.elapsed();
    step.size.follow(endedAt - begunAt);
    dueAt = endedAt + Math.max(MIN_PAUSE_MS, PAUSE_PER_SLICE * (endedAt - begunAt));
  }

  return {
    name: 'retention',
    async lease() {
      if (clock.elapsed() >= dueAt) await continuePass();
      return { items: [], nextDueAt: clock.now() + dueAt - clock.elapsed() };
    },
    run: async () => {},
  };
}

function freePagesStep({ db }: Pick<App, 'db'>): ExpiryStep {
  return {
    kind: 'pages',
    size: new SliceSize(PAGES),
    async expire(_now, { rows: pages }) {
      const { released, left } = await db.commit(releasePages, { pages });
      return { deleted: released, next: left > 0 ? 'more' : undefined };
    },
  };
}

type Clocks = { now: number; elapsed: number };

function readClocks(clock: App['clock']): Clocks {
  return { now: clock.now(), elapsed: clock.elapsed() };
}

/**
 * Returns the difference, in milliseconds, between the times that the two clocks measured from one reading to the
 * other.
 */
function driftMs(from: Clocks, to: Clocks): number {
  return Math.abs(to.now - from.now - (to.elapsed - from.elapsed));
}

type Pass = {
  /** Wall time at which the pass began. Rows that expire later are not deleted in this pass. */
  now: number;
  step: number;
  /** Id after which the next slice of the step begins. */
  after: string;
  deleted: Record<string, number>;
};

function beginPass(now: number): Pass {
  return { now, step: 0, after: '', deleted: {} };
}
