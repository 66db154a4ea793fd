/** The background work of webhooks. It leases due deliveries, a few for each endpoint, posts them, and settles them. */

import { commitOutcome } from '../db/commit-outcome.ts';
import type { Random } from '../system/random.ts';
import { periodic, type Work } from '../system/worker.ts';
import type { PartApp } from '../thread-app.ts';
import { eventPayload, post } from './deliver.ts';
import { type EndpointId, listWaitingEndpoints, releaseAbandoned } from './deliveries/store.ts';
import { type LeasedDelivery, leaseDeliveries } from './lease.ts';
import { Claims } from './posting/claims.ts';
import { type PostOutcome, resultOf } from './posting/post.ts';
import { nextAttempt } from './posting/schedule.ts';
import { IN_FLIGHT } from './posting/slots.ts';
import { type EndpointEffect, type Settlement, settleDelivery } from './settle.ts';
import { endSuspensions, forgetPreviousSecrets } from './store.ts';

/** Length of a lease. It is longer than a post may take, so that nothing is posted twice at the same time. */
const LEASE_MS = 60_000;

type WebhookApp = Pick<
  PartApp,
  'db' | 'clock' | 'random' | 'config' | 'sealer' | 'fetch' | 'crashPoint' | 'log' | 'metrics' | 'runId'
>;

/** Returns the work that posts deliveries. */
export function createWebhookWork(app: WebhookApp): Work<LeasedDelivery> {
  const posts = app.metrics.counter('webhook_posts_total', 'Posts to webhook endpoints.', ['outcome']);
  const claims = new Claims<EndpointId>(() => listWaitingEndpoints(app.db.read));
  let released = false;

  return {
    name: 'webhooks',
    wakeOn: ['webhooks'],
    concurrency: IN_FLIGHT,
    async lease(limit) {
      const now = app.clock.now();
      if (!released) await releaseAll(app, now);
      released = true;
      const lease = { now, until: now + LEASE_MS, runId: app.runId };
      return claims.lease({ now, limit }, (claimed) =>
        app.db.commit(leaseDeliveries, { ...lease, claims: claimed }),
      );
    },
    async run(delivery) {
      try {
        const outcome = await deliver(app, delivery);
        posts.inc({ outcome: outcome.kind });
      } finally {
        claims.free(delivery.endpoint);
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
  report(app, settlement, await commitOutcome(app, settleDelivery, settlement));
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
    ...nextAttempt(lease.attempts, outcome, { now, random }),
    ...resultOf(outcome),
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
