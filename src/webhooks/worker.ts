/** The background work of webhooks. It leases due deliveries, a few for each endpoint, posts them, and settles them. */

import type { Random } from '../system/random.ts';
import { periodic, type Work } from '../system/worker.ts';
import type { PartApp } from '../thread-app.ts';
import { errorOf, eventPayload, type PostOutcome, post } from './deliver.ts';
import {
  type Ended,
  type EndpointId,
  listWaitingEndpoints,
  releaseAbandoned,
  type WaitingEndpoint,
} from './deliveries/store.ts';
import { type Claim, type LeasedDelivery, leaseDeliveries } from './lease.ts';
import { retryDelayMs } from './schedule.ts';
import { type EndpointEffect, type Settlement, settleDelivery } from './settle.ts';
import { IN_FLIGHT, Slots } from './slots.ts';
import { endSuspensions, forgetPreviousSecrets } from './store.ts';

/** Length of a lease. It is longer than a post may take, so that nothing is posted twice at the same time. */
const LEASE_MS = 60_000;

/** Maximum number of leases in a row that take nothing, before the worker pauses. */
const MAX_LEASE_TRIES = 3;

type WebhookApp = Pick<
  PartApp,
  'db' | 'clock' | 'random' | 'config' | 'sealer' | 'fetch' | 'crashPoint' | 'log' | 'metrics' | 'runId'
>;

/** Returns the work that posts deliveries. */
export function createWebhookWork(app: WebhookApp): Work<LeasedDelivery> {
  const posts = app.metrics.counter('webhook_posts_total', 'Posts to webhook endpoints.', ['outcome']);
  const slots = new Slots();
  let waiting: WaitingEndpoint[] = [];
  /**
   * Endpoints that were given a slot since the list was read. The list is reused, because reading a thousand
   * endpoints takes milliseconds of this thread.
   */
  const given = new Set<EndpointId>();
  let released = false;

  async function nextClaims(now: number, limit: number): Promise<Claim[]> {
    let claims = slots.shareRest(waiting, { now, limit, given });
    if (claims.length === 0) {
      waiting = await listWaitingEndpoints(app.db.read);
      given.clear();
      claims = slots.share(waiting, { now, limit });
    }
    for (const { endpointId } of claims) given.add(endpointId);
    return claims;
  }

  return {
    name: 'webhooks',
    wakeOn: ['webhooks'],
    concurrency: IN_FLIGHT,
    async lease(limit) {
      const now = app.clock.now();
      if (!released) await releaseAll(app, now);
      released = true;
      for (let tries = 0; tries < MAX_LEASE_TRIES; tries += 1) {
        const claims = await nextClaims(now, limit);
        if (claims.length === 0) break;
        const lease = { now, until: now + LEASE_MS, runId: app.runId, claims };
        const leased = await app.db.commit(leaseDeliveries, lease);
        for (const { endpoint } of leased) slots.take(endpoint);
        // The list may hold more endpoints that are due, so the worker leases again at once.
        if (leased.length > 0) return { items: leased, nextDueAt: now };
        // When nothing was leased, the list of waiting endpoints is out of date: endpoints were suspended, disabled or
        // deleted since.
      }
      return { items: [], nextDueAt: slots.next(waiting)?.dueAt };
    },
    async run(delivery) {
      try {
        const outcome = await deliver(app, delivery);
        posts.inc({ outcome: outcome.kind });
      } finally {
        slots.free(delivery.endpoint);
      }
    },
  };
}

/**
 * Releases the posts that an earlier run of the daemon or of its thread left in flight: they need not wait for the end
 * of their lease, nor of a suspension.
 */
async function releaseAll(app: WebhookApp, now: number): Promise<void> {
  const [count] = await Promise.all([
    app.db.commit(releaseAbandoned, { now, runId: app.runId }),
    app.db.commit(endSuspensions, undefined),
  ]);
  if (count > 0) app.log.warn({ count }, 'webhook posts were interrupted, and are made again');
}

async function deliver(app: WebhookApp, delivery: LeasedDelivery): Promise<PostOutcome> {
  const { lease, endpoint, event } = delivery;
  const outcome = await post(app, { id: lease.id, endpoint, event, body: eventPayload(event) });
  app.crashPoint('webhook-after-post');
  const settlement = settle(delivery, outcome, { now: app.clock.now(), random: app.random });
  report(app, settlement, await app.db.commit(settleDelivery, settlement));
  return outcome;
}

function settle(
  { lease, endpoint }: LeasedDelivery,
  outcome: PostOutcome,
  { now, random }: { now: number; random: Random },
): Settlement {
  return {
    ...lease,
    endpointId: endpoint.id,
    url: endpoint.url,
    now,
    gone: outcome.kind === 'gone',
    ...whatNext(lease.attempts, outcome, { now, random }),
    ...responseOf(outcome),
  };
}

function whatNext(
  attempts: number,
  outcome: PostOutcome,
  { now, random }: { now: number; random: Random },
): Pick<Ended, 'state' | 'dueAt'> {
  if (outcome.kind === 'delivered') return { state: 'delivered', dueAt: null };
  if (outcome.kind === 'gone') return { state: 'failed', dueAt: null };
  const retryAfterMs = outcome.kind === 'refused' ? outcome.retryAfterMs : undefined;
  const delayMs = retryDelayMs({ attempts, retryAfterMs }, random);
  return delayMs === undefined
    ? { state: 'failed', dueAt: null }
    : { state: 'pending', dueAt: now + delayMs };
}

function responseOf(outcome: PostOutcome): Omit<Ended, 'state' | 'dueAt'> {
  const response = outcome.kind === 'unreachable' ? null : outcome.response;
  return {
    responseStatus: response?.status ?? null,
    responseTimeMs: response?.timeMs ?? null,
    responseBody: response?.body ?? null,
    error: errorOf(outcome),
  };
}

/** Logs the effect of a post for the operator. The owner sees it in the endpoint and in the log of deliveries. */
function report(
  { log }: Pick<PartApp, 'log'>,
  { id: deliveryId, endpointId, state, error, attempts }: Settlement,
  effect: EndpointEffect,
): void {
  switch (effect) {
    case 'stale':
      log.warn({ endpointId, deliveryId, attempts }, 'webhook answered after its lease ran out');
      break;
    case 'gone':
      log.info({ endpointId }, 'webhook endpoint disabled: its receiver answered 410');
      break;
    case 'disabled':
      log.warn({ endpointId, error }, 'webhook endpoint disabled: it has taken nothing for days');
      break;
    case 'warned':
      log.warn({ endpointId, error }, 'webhook endpoint has taken nothing for a day');
      break;
    case 'none':
      if (state === 'failed') log.warn({ endpointId, deliveryId, error }, 'webhook given up');
  }
}

const SWEEP_PERIOD_MS = 3_600_000;

/** Returns the work that removes secrets whose overlap has ended. */
export function createSecretSweep({ db, clock }: Pick<PartApp, 'db' | 'clock'>): Work<'run'> {
  return periodic(clock, {
    name: 'webhook secret sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      await db.commit(forgetPreviousSecrets, { now: clock.now() });
    },
  });
}
