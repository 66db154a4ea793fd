/** Starts a broadcast: checks it once more, freezes it, and leaves the rest to background work. A resume may be a start. */
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { findRun } from '../ledger/run-store.ts';
import { AppError, type ErrorCode } from '../system/errors.ts';
import { control } from './control.ts';
import { type Author, draftFieldsOf, readDraft } from './draft.ts';
import { freezeBroadcast } from './freeze.ts';
import { requireStartable, type StartedFrom, storeStart } from './runs/start.ts';
import { type Settling, settleScheduled } from './runs/state.ts';
import { findListed, getBroadcast } from './store.ts';

/**
 * Starts a broadcast and returns it as `sending`. One that is paused must never have been started.
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified, unavailable
 */
export async function startBroadcast(
  app: App,
  caller: Author,
  { id, from }: { id: string; from: StartedFrom },
): Promise<BroadcastRow> {
  for (;;) {
    const broadcast = await getBroadcast(app.db.read, caller, id);
    requireStartable(broadcast, from);
    await readDraft(app, caller, { wanted: draftFieldsOf(broadcast), given: {} });
    const content = await freezeBroadcast(app, caller, broadcast);
    const now = app.clock.now();
    const started = await app.db.commit(storeStart, { broadcast, from, ...content, now });
    // A draft that was changed meanwhile is checked and frozen again.
    if (!started) continue;
    app.log.info({ broadcastId: id, tenantId: caller.tenantId }, 'a broadcast has started');
    return started;
  }
}

/**
 * Resumes a paused broadcast, or starts the one that was paused because its start was late. Returns it.
 * @throws AppError not_found, invalid_state; for one that is started, also validation_error, restricted_api_key and
 * domain_not_verified
 */
export async function resumeBroadcast(app: App, caller: Author, id: string): Promise<BroadcastRow> {
  const broadcast = await getBroadcast(app.db.read, caller, id);
  const run = await findRun(app.db.read, broadcast.id);
  if (broadcast.status === 'paused' && run?.startedAt === null)
    return startBroadcast(app, caller, { id, from: ['paused'] });
  return control(app, { owner: caller, id, cause: 'resumed' });
}

/**
 * Maximum time by which a start may be late, in milliseconds. A later one pauses the broadcast: after a long stop, or after
 * a backup was restored, its owner decides whether it is still wanted.
 */
const MAX_LATE_MS = 3_600_000;

/** Refusals that say that the broadcast cannot be sent as it is. Any other refusal is temporary. */
const FATAL: readonly ErrorCode[] = ['validation_error', 'restricted_api_key', 'domain_not_verified'];

/** Time after which a scheduled broadcast that cannot start at the moment is tried again, in milliseconds. */
const RETRY_START_MS = 5_000;

/**
 * Starts a broadcast that is due. It was checked with the key of its author when it was scheduled, and is checked again
 * without the limits of a key. Returns the time of the next try: its own time when the clock was set back, and soon when it
 * cannot be started at the moment, for example because the disk is full; undefined when nothing more is to be done.
 */
export async function startScheduled(app: App, id: BroadcastRow['id']): Promise<number | undefined> {
  const broadcast = await findListed(app.db.read, id);
  const run = await findRun(app.db.read, id);
  if (broadcast?.status !== 'scheduled' || !run || run.scheduleAt === null) return undefined;
  const now = app.clock.now();
  if (run.scheduleAt > now) return run.scheduleAt;
  if (now - run.scheduleAt > MAX_LATE_MS) {
    await settle(app, { ...broadcast, failure: undefined });
    return undefined;
  }
  const author = { tenantId: broadcast.tenantId, mode: broadcast.mode, domainId: null };
  try {
    await startBroadcast(app, author, { id, from: ['scheduled'] });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (FATAL.includes(error.code)) await settle(app, { ...broadcast, failure: error.message });
    // A broadcast that was deleted, changed or started meanwhile needs nothing more.
    else if (error.code !== 'not_found' && error.code !== 'invalid_state') return now + RETRY_START_MS;
  }
  return undefined;
}

async function settle(
  { db, clock, log, wakeups }: App,
  { id, tenantId, updatedAt, failure }: Pick<BroadcastRow, 'tenantId'> & Omit<Settling, 'now'>,
): Promise<void> {
  const status = await db.commit(settleScheduled, { id, updatedAt, failure, now: clock.now() });
  if (status === undefined) return;
  log.info({ broadcastId: id, tenantId, status, failure }, 'a scheduled broadcast was not started');
  wakeups.notify('events');
}
