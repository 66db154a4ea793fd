/**
 * The end of a post: the delivery's new state, and what it means for its endpoint, in one transaction. An endpoint that
 * takes nothing for days is disabled, one whose receiver is gone at once (api.md 1.8).
 */
import { defineWrite, type Tx } from '../db/operation.ts';
import { firstIdAt } from '../system/ids.ts';
import {
  countFailing,
  type Ended,
  type EndpointId,
  endPending,
  type LeaseToken,
  settleLeased,
} from './deliveries/store.ts';
import { MAX_ATTEMPTS, suspensionMs } from './schedule.ts';
import {
  disableEndpoint,
  type EndpointById,
  type Failing,
  findEndpoint,
  noteFailing,
  noteSuccess,
} from './store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** api.md 1.8: the owner is told after a day. */
const WARN_AFTER_MS = DAY_MS;
/** api.md 1.8: nothing has succeeded for so long, … */
const DISABLE_AFTER_MS = 5 * DAY_MS;
/** … and so many deliveries are given up, or have failed for so long, which no short outage does. */
const FAILING_DELIVERIES = 10;
const FAILING_FOR_MS = DAY_MS;
/** The first of them was made before its post failed, by about so much. */
const FIRST_POST_MS = 60_000;

export type Settlement = LeaseToken &
  Ended & {
    endpointId: EndpointId;
    /** Where it was posted: the endpoint may have another by now. */
    url: string;
    now: number;
    /** The receiver wants nothing more, ever. */
    gone: boolean;
  };

/** What became of the endpoint. `stale`: the lease no longer held, so nothing changed. */
export type EndpointEffect = 'stale' | 'none' | 'warned' | 'disabled' | 'gone';

export const settleDelivery = defineWrite(
  'webhooks.settle',
  async (tx, settlement: Settlement): Promise<EndpointEffect> => {
    const { endpointId, now, gone } = settlement;
    if (settlement.state === 'delivered') {
      if (!(await settleLeased(tx, settlement))) return 'stale';
      await noteSuccess(tx, endpointId);
      return 'none';
    }
    const endpoint = await findEndpoint(tx, endpointId);
    const hasMoved = endpoint !== undefined && endpoint.url !== settlement.url;
    const ended = hasMoved ? { ...settlement, ...nextReceiver(settlement) } : settlement;
    if (!(await settleLeased(tx, ended))) return 'stale';
    if (endpoint?.status !== 'enabled') {
      await endPending(tx, endpointId, endpoint ? 'disabled' : 'deleted', now);
      return 'none';
    }
    if (hasMoved) return 'none';
    if (gone) {
      await disableEndpoint(tx, { id: endpointId, reason: 'gone', now });
      return 'gone';
    }
    return settleFailure(tx, endpoint, now);
  },
);

/** What the receiver of before refused is for the one that has taken its place, which has refused nothing yet. */
function nextReceiver({ attempts, now }: Settlement): Partial<Ended> {
  return attempts < MAX_ATTEMPTS ? { state: 'pending', dueAt: now } : {};
}

async function settleFailure(tx: Tx, endpoint: EndpointById, now: number): Promise<EndpointEffect> {
  const failingSince = endpoint.failingSince ?? now;
  if (await hasFailedTooLong(tx, endpoint.id, failingSince, now)) {
    await disableEndpoint(tx, { id: endpoint.id, reason: 'failures', now });
    return 'disabled';
  }
  const warns = endpoint.warnedAt === null && now - failingSince >= WARN_AFTER_MS;
  await noteFailing(tx, {
    id: endpoint.id,
    failingSince,
    warnedAt: warns ? now : endpoint.warnedAt,
    ...suspend(endpoint, now),
  });
  return warns ? 'warned' : 'none';
}

/** Suspends the endpoint. Posts that were made at the same time and fail together count as one failure. */
function suspend(
  { consecutiveFailures, suspendedUntil }: EndpointById,
  now: number,
): Pick<Failing, 'consecutiveFailures' | 'suspendedUntil'> {
  if (suspendedUntil !== null && suspendedUntil > now) return { consecutiveFailures, suspendedUntil };
  const failures = consecutiveFailures + 1;
  return { consecutiveFailures: failures, suspendedUntil: now + suspensionMs(failures) };
}

async function hasFailedTooLong(
  tx: Tx,
  endpointId: EndpointId,
  since: number,
  now: number,
): Promise<boolean> {
  if (now - since < DISABLE_AFTER_MS) return false;
  const failing = await countFailing(tx, {
    endpointId,
    after: firstIdAt('whd', since - FIRST_POST_MS),
    before: firstIdAt('whd', now - FAILING_FOR_MS),
    limit: FAILING_DELIVERIES,
  });
  return failing >= FAILING_DELIVERIES;
}
