/** The background work of webhooks. It leases due deliveries, a few for each endpoint, posts them, and settles them. */
import type { App } from '../app.ts';
import { firstKeptId } from '../system/ids.ts';
import type { Random } from '../system/random.ts';
import { periodic, type Work } from '../system/worker.ts';
import { errorOf, eventPayload, type PostOutcome, post } from './deliver.ts';
import {
  type Ended,
  type EndpointId,
  listWaitingEndpoints,
  releaseAbandoned,
  sweepDeliveries,
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

export type WebhookApp = Pick<
  App,
  'db' | 'clock' | 'random' | 'config' | 'sealer' | 'fetch' | 'crashPoint' | 'log' | 'runId'
>;

/** Returns the work that posts deliveries. */
export function createWebhookWork(app: WebhookApp): Work<LeasedDelivery> {
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
        if (claims.length === 0) return [];
        const lease = { now, until: now + LEASE_MS, runId: app.runId, claims };
        const leased = await app.db.commit(leaseDeliveries, lease);
        for (const { endpoint } of leased) slots.take(endpoint);
        // When nothing was leased, the list of waiting endpoints is out of date: endpoints were suspended, disabled or
        // deleted since.
        if (leased.length > 0) return leased;
      }
      return [];
    },
    async run(delivery) {
      try {
        await deliver(app, delivery);
      } finally {
        slots.free(delivery.endpoint);
      }
    },
    /** It is called right after a lease that took nothing, so the list is still correct. A wake-up reads it again. */
    nextDueAt: async () => slots.next(waiting)?.dueAt,
  };
}

/**
 * Releases the posts that an earlier start of the daemon left in flight: they need not wait for the end of their lease,
 * nor of a suspension.
 */
async function releaseAll(app: WebhookApp, now: number): Promise<void> {
  const [count] = await Promise.all([
    app.db.commit(releaseAbandoned, { now, runId: app.runId }),
    app.db.commit(endSuspensions, undefined),
  ]);
  if (count > 0) app.log.warn({ count }, 'webhook posts were interrupted, and are made again');
}

async function deliver(app: WebhookApp, delivery: LeasedDelivery): Promise<void> {
  const { lease, endpoint, event } = delivery;
  const outcome = await post(app, { id: lease.id, endpoint, event, body: eventPayload(event) });
  app.crashPoint('webhook-after-post');
  const settlement = settle(delivery, outcome, { now: app.clock.now(), random: app.random });
  report(app, settlement, await app.db.commit(settleDelivery, settlement));
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
    ...whatWasHeard(outcome),
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

function whatWasHeard(outcome: PostOutcome): Omit<Ended, 'state' | 'dueAt'> {
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
  { log }: Pick<App, 'log'>,
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

/** Returns the work that removes old deliveries, and secrets whose overlap has ended. */
export function createDeliverySweep(app: Pick<App, 'db' | 'clock' | 'config'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'webhook delivery sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      await app.db.commit(forgetPreviousSecrets, { now: app.clock.now() });
      const before = firstKeptId('whd', app.clock.now(), app.config.retention.webhookDays);
      let removed: number;
      do {
        removed = await app.db.commit(sweepDeliveries, { before });
      } while (removed > 0);
    },
  });
}
