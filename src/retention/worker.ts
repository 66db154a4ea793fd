/**
 * Deletes what has been kept long enough: the content of emails, webhook deliveries, delivery attempts, events, and at
 * last the emails themselves. Then it gives free pages back. A pass takes these steps one after another, slice by
 * slice. Each slice is a write of its own, so a crash between two of them loses nothing: the next pass goes on with what is left. A pass begins only after the wall clock
 * has run evenly for an hour: a clock that jumps years ahead and is soon put right deletes nothing.
 */
import type { App } from '../app.ts';
import type { Work } from '../system/worker.ts';
import { createSteps, type Step } from './steps.ts';

type RetentionApp = Pick<App, 'db' | 'blobs' | 'clock' | 'config' | 'log' | 'metrics' | 'crashPoint'>;

/** Time from the start of the daemon, or the end of a pass, to the beginning of the next pass. */
const PERIOD_MS = 3_600_000;
/** Maximum difference between the two clocks over one period: NTP corrects smaller steps every day. Our own limit. */
const MAX_DRIFT_MS = 60_000;
/**
 * A slice is followed by a pause of at least 20 ms, and of three times as long as the slice took with its wait for the
 * writer, so that other writes have at least three quarters of the writer's time. Our own limits.
 */
const MIN_PAUSE_MS = 20;
const PAUSE_PER_SLICE = 3;

/** Runs in `lease`, one slice a call: a stopping daemon waits for one slice at most, and a failed one is tried again. */
export function createRetentionWork(app: RetentionApp): Work<never> {
  const { clock, log } = app;
  const deletions = app.metrics.counter(
    'retention_deleted_total',
    'Rows deleted by retention, and pages given back.',
    ['kind'],
  );
  const steps = createSteps(app);
  let pass: Pass | undefined;
  /** Both clocks at the beginning of the wait for the next pass. */
  let since = readClocks(clock);
  /** On the monotonic clock. */
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
    wakeOn: [],
    concurrency: 1,
    async lease() {
      if (clock.elapsed() >= dueAt) await continuePass();
      return { items: [], nextDueAt: clock.now() + dueAt - clock.elapsed() };
    },
    run: async () => {},
  };
}

type Clocks = { now: number; elapsed: number };

function readClocks(clock: App['clock']): Clocks {
  return { now: clock.now(), elapsed: clock.elapsed() };
}

/** Returns by how much the wall clock and the monotonic clock differ about the time between two readings. */
function driftMs(from: Clocks, to: Clocks): number {
  return Math.abs(to.now - from.now - (to.elapsed - from.elapsed));
}

type Pass = {
  /** Wall time at which the pass began: nothing that expires later is deleted in it. */
  now: number;
  step: number;
  /** Id after which the next slice of the step begins. */
  after: string;
  deleted: Partial<Record<Step['kind'], number>>;
};

function beginPass(now: number): Pass {
  return { now, step: 0, after: '', deleted: {} };
}
