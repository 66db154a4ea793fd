/**
 * Goes through the mail that is due and is not claimed, because its site rests or is at a limit: no attempt would end it when it
 * expires, and none would say that it is delayed. Reader threads find it in slices, and bulk writes with pauses change it.
 */
import type { App } from '../../app.ts';
import { sleep } from '../../system/clock.ts';
import { periodic, type Work } from '../../system/worker.ts';
import type { Replies } from '../outcome/replies/replies.ts';
import { isNoticeDue } from '../state/transition.ts';
import { type ExplainWaiting, type QueueWaits, waitIn } from '../waiting.ts';
import { FIRST_PLACE, listOverdue, type Overdue, type OverdueSlice } from './overdue-store.ts';
import { isExpired, OVERDUE_MS, settleOverdue } from './settle-overdue.ts';

/** Time between two sweeps, in milliseconds. */
const PERIOD_MS = 5 * 60_000;
/** Time after a start before the first sweep, in milliseconds: mail that has expired while the daemon was off is tried once more. */
const FIRST_AFTER_MS = 30 * 60_000;
/** Maximum number of messages that a write changes. */
const MAX_MESSAGES = 25;
/** Pause after a write, as a multiple of its duration, so that other writes have two thirds of the writer's time. */
const PAUSE_PER_WRITE = 2;

type SweepApp = Pick<App, 'db' | 'clock' | 'egress'> & {
  replies: Replies;
  explainWaiting: ExplainWaiting;
};

/** Returns the work that sweeps. */
export function createOverdueWork(app: SweepApp): Work<'run'> {
  const { clock } = app;
  const firstAt = clock.elapsed() + FIRST_AFTER_MS;
  return periodic(clock, {
    name: 'overdue mail',
    periodMs: PERIOD_MS,
    async run() {
      if (clock.elapsed() >= firstAt) await sweepOverdue(app);
    },
  });
}

/** Sweeps once. Nothing is changed while a restored installation waits for its release. */
export async function sweepOverdue(app: SweepApp): Promise<void> {
  const now = app.clock.now();
  let after: OverdueSlice['next'] = FIRST_PLACE;
  while (after && !app.egress.isHeld) {
    const { found, next }: OverdueSlice = await app.db.query(listOverdue, { after, until: now - OVERDUE_MS });
    await settle(app, await selectDue(app, found, now), now);
    after = next;
  }
}

/** Returns the recipients that have expired, and those whose delay is to be recorded. */
async function selectDue(
  { explainWaiting }: SweepApp,
  found: readonly Overdue[],
  now: number,
): Promise<Overdue[]> {
  const expired = found.filter((one) => isExpired(one, now));
  const delayed = found.filter((one) => !isExpired(one, now) && isNoticeDue(one, now));
  if (delayed.length === 0) return expired;
  const waits = await explainWaiting([...new Set(delayed.map(({ queue }) => queue))]);
  return [...expired, ...delayed.filter((one) => isDelayed(one, waits))];
}

/** The copies of a broadcast leave one after another, so only a rest delays them. */
function isDelayed(overdue: Overdue, waits: QueueWaits): boolean {
  const reason = waitIn(waits, overdue)?.reason;
  return reason === 'rest' || (reason !== undefined && overdue.kind === 'transactional');
}

async function settle({ db, clock, replies }: SweepApp, due: readonly Overdue[], now: number): Promise<void> {
  const expired = replies.table.explainFact('expired');
  const byMessage = [...Map.groupBy(due, ({ messageId }) => messageId)];
  const mail = byMessage.map(([messageId, of]) => ({ messageId, recipientIds: of.map(({ id }) => id) }));
  for (let first = 0; first < mail.length; first += MAX_MESSAGES) {
    const begunAt = clock.elapsed();
    await db.commit(settleOverdue, { mail: mail.slice(first, first + MAX_MESSAGES), expired, now });
    const tookMs = clock.elapsed() - begunAt;
    if (tookMs > 0) await sleep(clock, tookMs * PAUSE_PER_WRITE);
  }
}
