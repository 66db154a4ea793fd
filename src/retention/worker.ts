/**
 * Deletes what has been kept long enough (decisions.md 35): the content of emails, delivery attempts, events, and at
 * last the emails themselves. A pass takes these one after another, slice by slice. Each slice is a write of its own,
 * so a crash between two of them loses nothing: the next pass goes on with what is left. A pass begins only after the
 * wall clock has run evenly for an hour: a clock that jumps years ahead and is soon put right deletes nothing.
 */
import type { App } from '../app.ts';
import { discardAll } from '../blobs/discard-on-refusal.ts';
import type { ExpirySlice } from '../db/expiry.ts';
import { expireContent, expireEmails } from '../emails/store.ts';
import { expireEvents } from '../events/store.ts';
import { expireAttempts } from '../queue/attempts/store.ts';
import { DAY_MS } from '../system/clock.ts';
import { firstKeptId } from '../system/ids.ts';
import type { Work } from '../system/worker.ts';

type RetentionApp = Pick<App, 'db' | 'blobs' | 'clock' | 'config' | 'log' | 'metrics'>;

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

type Step = {
  kind: 'contents' | 'attempts' | 'events' | 'emails';
  /** Deletes the next slice of what had expired at `now`. */
  expire(now: number, after: string): Promise<ExpirySlice>;
};

/** Runs in `lease`, one slice a call: a stopping daemon waits for one slice at most, and a failed one is tried again. */
export function createRetentionWork(app: RetentionApp): Work<never> {
  const { clock, log } = app;
  const deletions = app.metrics.counter('retention_deleted_total', 'Rows deleted by retention.', ['kind']);
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

  return {
    name: 'retention',
    wakeOn: [],
    concurrency: 1,
    async lease() {
      const begunAt = clock.elapsed();
      if (begunAt < dueAt) return [];
      if (!pass && driftMs(since, readClocks(clock)) > MAX_DRIFT_MS) {
        waitForPass();
        return [];
      }
      pass ??= beginPass(clock.now());
      const step = steps[pass.step];
      if (!step) {
        endPass(pass);
        return [];
      }
      const { next, deleted } = await step.expire(pass.now, pass.after);
      if (deleted > 0) {
        deletions.inc({ kind: step.kind }, deleted);
        pass.deleted[step.kind] = (pass.deleted[step.kind] ?? 0) + deleted;
      }
      pass.after = next ?? '';
      if (next === undefined) pass.step++;
      const endedAt = clock.elapsed();
      dueAt = endedAt + Math.max(MIN_PAUSE_MS, PAUSE_PER_SLICE * (endedAt - begunAt));
      return [];
    },
    run: async () => {},
    nextDueAt: async () => clock.now() + dueAt - clock.elapsed(),
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

/** Content goes before the emails it belongs to, so that an email is deleted only when its files are gone. */
function createSteps({ db, blobs, config }: RetentionApp): readonly Step[] {
  const { contentDays, eventDays, emailDays } = config.retention;
  const emailsOlderThan = (days: number, now: number, after: string) => ({
    now,
    after,
    before: firstKeptId('em', now, days),
    endedBy: now - days * DAY_MS,
  });
  return [
    {
      kind: 'contents',
      async expire(now, after) {
        const slice = await db.commit(expireContent, emailsOlderThan(contentDays, now, after));
        await discardAll(blobs, slice.files);
        return slice;
      },
    },
    {
      kind: 'attempts',
      expire: (now, after) =>
        db.commit(expireAttempts, { after, before: firstKeptId('att', now, eventDays) }),
    },
    {
      kind: 'events',
      expire: (now, after) => db.commit(expireEvents, { after, before: firstKeptId('evt', now, eventDays) }),
    },
    {
      kind: 'emails',
      expire: (now, after) => db.commit(expireEmails, emailsOlderThan(emailDays, now, after)),
    },
  ];
}
