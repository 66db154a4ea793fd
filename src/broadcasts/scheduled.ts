/** Starts scheduled broadcasts when their time has come. */
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { findRun } from '../ledger/run-store.ts';
import { AppError, type ErrorCode } from '../system/errors.ts';
import { type Settling, settleScheduled } from './runs/state.ts';
import { type SendingApp, startBroadcast } from './start.ts';
import { findListed } from './store.ts';

/**
 * Maximum time by which a start may be late, in milliseconds. A later one pauses the broadcast: after a long stop, or after
 * a backup was restored, its owner decides whether it is still wanted.
 */
const MAX_LATE_MS = 3_600_000;

/** Refusals that say that the broadcast cannot be sent as it is. Any other refusal is temporary. */
const FATAL: readonly ErrorCode[] = ['validation_error', 'restricted_api_key', 'domain_not_verified'];

/**
 * Starts a broadcast that is due. It was checked with the key of its author when it was scheduled, and is checked again
 * without the limits of a key. Returns false when it cannot be started at the moment, for example because the disk is full.
 */
export async function startScheduled(app: SendingApp, id: BroadcastRow['id']): Promise<boolean> {
  const broadcast = await findListed(app.db.read, id);
  const run = await findRun(app.db.read, id);
  if (broadcast?.status !== 'scheduled' || !run || run.scheduleAt === null) return true;
  const now = app.clock.now();
  if (now - run.scheduleAt > MAX_LATE_MS) {
    await settle(app, { ...broadcast, failure: undefined });
    return true;
  }
  const author = { tenantId: broadcast.tenantId, mode: broadcast.mode, domainId: null };
  try {
    await startBroadcast(app, author, { id, from: ['scheduled'] });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (FATAL.includes(error.code)) await settle(app, { ...broadcast, failure: error.message });
    // A broadcast that was deleted, changed or started meanwhile needs nothing more.
    else return error.code === 'not_found' || error.code === 'invalid_state';
  }
  return true;
}

async function settle(
  { db, clock, log, wakeups }: SendingApp,
  { id, tenantId, updatedAt, failure }: Pick<BroadcastRow, 'tenantId'> & Omit<Settling, 'now'>,
): Promise<void> {
  const status = await db.commit(settleScheduled, { id, updatedAt, failure, now: clock.now() });
  if (status === undefined) return;
  log.info({ broadcastId: id, tenantId, status, failure }, 'a scheduled broadcast was not started');
  wakeups.notify('events');
}
