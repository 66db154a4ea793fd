/**
 * Settles a post: one transaction stores the delivery's new state and its effect on the endpoint. An endpoint that has
 * failed for days is disabled, and one that answers 410 is disabled at once.
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

/** Age of the failures at which the operator is warned. */
const WARN_AFTER_MS = DAY_MS;
/** Time without a success after which an endpoint is disabled. */
const DISABLE_AFTER_MS = 5 * DAY_MS;
/**
 * Number of failing deliveries that an endpoint must also have to be disabled, so that a short outage does not
 * disable it.
 */
const FAILING_DELIVERIES = 10;
const FAILING_FOR_MS = DAY_MS;
/** Time by which the first failing delivery may be older than its failed post. */
const FIRST_POST_MS = 60_000;

export type Settlement = LeaseToken &
  Ended & {
    endpointId: EndpointId;
    /** URL of the post. The endpoint may have another one by now. */
    url: string;
    now: number;
    /** True when the receiver answered 410 and wants no more posts. */
    gone: boolean;
  };

/** Effect of a post on its endpoint. `stale` means that the lease was no longer valid and nothing changed. */
export type EndpointEffect = 'stale' | 'none' | 'warned' | 'disabled' | 'gone';

/** Settles a post and returns its effect on the endpoint. */
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
      await endPending(tx, endpointId, { why: endpoint ? 'disabled' : 'deleted', now });
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

/** Makes a delivery due for the new URL of its endpoint, because the refusal came from the previous one. */
function nextReceiver({ attempts, now }: Settlement): Partial<Ended> {
  return attempts < MAX_ATTEMPTS ? { state: 'pending', dueAt: now } : {};
}

async function settleFailure(tx: Tx, endpoint: EndpointById, now: number): Promise<EndpointEffect> {
  const failingSince = endpoint.failingSince ?? now;
  if (await hasFailedTooLong(tx, endpoint.id, { since: failingSince, now })) {
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
  { since, now }: { since: number; now: number },
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
