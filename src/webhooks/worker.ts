/**
 * The background work of webhooks: takes deliveries that are due, a few for each endpoint, posts them, and settles them:
 * delivered, to be tried again on the schedule of api.md 1.8, or given up.
 */
import type { App } from '../app.ts';
import { jitter } from '../system/backoff.ts';
import type { Random } from '../system/random.ts';
import type { Work } from '../system/worker.ts';
import { type PostOutcome, post } from './deliver.ts';
import {
  type EndpointId,
  type LeasedDelivery,
  leaseDeliveries,
  listWaitingEndpoints,
  type Settlement,
  settleDelivery,
  settleGone,
  type WaitingEndpoint,
} from './store.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waiting time after the first attempt, after the second, and so on; eight attempts in all (api.md 1.8). */
const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
] as const;
const JITTER_SHARE = 0.1;
/** api.md 1.8: a receiver may ask for more time, up to this. */
const MOST_RETRY_AFTER_MS = 10 * HOUR_MS;

/** Longer than a post may take, so that nothing is posted twice at the same time; after a crash it is the delay. */
const LEASE_MS = 60 * SECOND_MS;
/** api.md 1.8. */
const IN_FLIGHT_PER_ENDPOINT = 4;
/** More than the slowest receivers behind all endpoints of one tenant (50 times 4) can hold. */
const IN_FLIGHT = 256;

export type WebhookApp = Pick<
  App,
  'db' | 'clock' | 'random' | 'config' | 'sealer' | 'fetch' | 'crashPoint' | 'log'
>;

export function createWebhookWork(app: WebhookApp): Work<LeasedDelivery> {
  const inFlight = new Map<EndpointId, number>();
  const count = (id: EndpointId, change: 1 | -1) => {
    const now = (inFlight.get(id) ?? 0) + change;
    if (now > 0) inFlight.set(id, now);
    else inFlight.delete(id);
  };
  const room = (id: EndpointId) => IN_FLIGHT_PER_ENDPOINT - (inFlight.get(id) ?? 0);
  return {
    name: 'webhooks',
    wakeOn: ['webhooks'],
    concurrency: IN_FLIGHT,
    async lease(limit) {
      const now = app.clock.now();
      const due = (await listWaitingEndpoints(app.db.read)).filter(({ dueAt }) => dueAt <= now);
      const claims = share(due, limit, room);
      if (claims.length === 0) return [];
      const leased = await app.db.commit(leaseDeliveries, { now, until: now + LEASE_MS, claims });
      for (const { endpoint } of leased) count(endpoint.id, 1);
      return leased;
    },
    async run(delivery) {
      try {
        await deliver(app, delivery);
      } finally {
        count(delivery.endpoint.id, -1);
      }
    },
    /** An endpoint with no room is no reason to look again: the end of one of its posts is. */
    async nextDueAt() {
      const waiting = await listWaitingEndpoints(app.db.read);
      return waiting.find(({ endpointId }) => room(endpointId) > 0)?.dueAt;
    },
  };
}

/** Gives out up to `limit` posts, no endpoint more than it has room for. */
function share(
  due: readonly WaitingEndpoint[],
  limit: number,
  room: (id: EndpointId) => number,
): { endpointId: EndpointId; limit: number }[] {
  const claims = [];
  let left = limit;
  for (const { endpointId } of due) {
    const granted = Math.min(room(endpointId), left);
    if (granted > 0) claims.push({ endpointId, limit: granted });
    left -= Math.max(granted, 0);
  }
  return claims;
}

async function deliver(app: WebhookApp, delivery: LeasedDelivery): Promise<void> {
  const outcome = await post(app, delivery);
  app.crashPoint('webhook-after-post');
  const now = app.clock.now();
  const settlement = settle(delivery, outcome, { now, random: app.random });
  const endpointId = delivery.endpoint.id;
  if (outcome.kind === 'gone') {
    await app.db.commit(settleGone, { settlement, endpointId, now });
    app.log.info({ endpointId }, 'webhook endpoint disabled: its receiver answered 410');
    return;
  }
  await app.db.commit(settleDelivery, settlement);
  if (settlement.state === 'failed') {
    app.log.warn({ endpointId, deliveryId: delivery.id, error: settlement.error }, 'webhook given up');
  }
}

function settle(
  { id, attempts }: LeasedDelivery,
  outcome: PostOutcome,
  { now, random }: { now: number; random: Random },
): Settlement {
  if (outcome.kind === 'delivered') {
    return { id, state: 'delivered', dueAt: null, responseStatus: outcome.status, error: null };
  }
  const responseStatus = outcome.kind === 'unreachable' ? null : outcome.status;
  const error = outcome.kind === 'unreachable' ? outcome.error : `The receiver answered ${outcome.status}`;
  const delayMs = outcome.kind === 'gone' ? undefined : RETRY_DELAYS_MS[attempts - 1];
  if (delayMs === undefined) return { id, state: 'failed', dueAt: null, responseStatus, error };
  const asked = outcome.kind === 'refused' ? (outcome.retryAfterMs ?? 0) : 0;
  const wait = Math.max(jitter(random, delayMs, JITTER_SHARE), Math.min(asked, MOST_RETRY_AFTER_MS));
  return { id, state: 'pending', dueAt: now + wait, responseStatus, error };
}
