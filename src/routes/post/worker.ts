/** The background work of posts to routes. It leases due posts, a few for each route, makes them, and settles them. */
import { commitOutcome } from '../../db/commit-outcome.ts';
import { INTERRUPTED, isUsedUp, putBackTask, releaseTasks } from '../../inbound/tasks/store.ts';
import type { Random } from '../../system/random.ts';
import type { Work } from '../../system/worker.ts';
import type { PartApp } from '../../thread-app.ts';
import { Claims } from '../../webhooks/posting/claims.ts';
import { resultOf } from '../../webhooks/posting/post.ts';
import { nextAttempt } from '../../webhooks/posting/schedule.ts';
import { IN_FLIGHT } from '../../webhooks/posting/slots.ts';
import { endRouteSuspensions, type RouteId } from '../store.ts';
import { type DeliveringApp, type Delivery, deliverToRoute } from './deliver.ts';
import { type LeasedPost, leasePosts } from './lease.ts';
import { type PostSettlement, type RouteEffect, settlePost } from './settle.ts';
import { listWaitingRoutes } from './store.ts';

/**
 * Length of a lease, in milliseconds. It is longer than the waits for memory and for a parser, and the post itself, take
 * together.
 */
const LEASE_MS = 120_000;
/** Delay of a post for which there was no memory or no parser, in milliseconds. */
const POSTPONED_MS = 5_000;

type PostingPartApp = DeliveringApp &
  Pick<PartApp, 'clock' | 'random' | 'crashPoint' | 'log' | 'metrics' | 'runId'>;

/** Returns the work that posts received messages to routes. */
export function createPostWork(app: PostingPartApp): Work<LeasedPost> {
  const posts = app.metrics.counter('inbound_posts_total', 'Posts to inbound routes.', ['outcome']);
  app.metrics.gauge(
    'inbound_post_bytes',
    'Bytes of messages that are being posted.',
    () => app.memory.usedBytes,
  );
  const claims = new Claims<RouteId>(() => listWaitingRoutes(app.db.read));
  let released = false;
  return {
    name: 'inbound post',
    wakeOn: ['inbound'],
    concerns: (subjects) => subjects?.includes('post') ?? true,
    concurrency: IN_FLIGHT,
    async lease(limit) {
      const now = app.clock.now();
      if (!released) await releaseAll(app, now);
      released = true;
      const lease = { now, until: now + LEASE_MS, runId: app.runId };
      return claims.lease({ now, limit }, (claimed) =>
        app.db.commit(leasePosts, { ...lease, claims: claimed }),
      );
    },
    async run(post) {
      try {
        const delivery = await run(app, post);
        posts.inc({ outcome: delivery.kind });
      } finally {
        claims.free(post.endpoint);
      }
    },
  };
}

/** Releases the posts that an earlier run of the daemon or of its thread left in flight, and ends all suspensions. */
async function releaseAll(app: PostingPartApp, now: number): Promise<void> {
  const [count] = await Promise.all([
    app.db.commit(releaseTasks, { kind: 'post', now, runId: app.runId }),
    app.db.commit(endRouteSuspensions, undefined),
  ]);
  if (count > 0) app.log.warn({ count }, 'posts to routes were interrupted, and are made again');
}

async function run(app: PostingPartApp, { task, endpoint }: LeasedPost): Promise<Delivery> {
  app.crashPoint('inbound-post-leased');
  const delivery = isUsedUp(task)
    ? ({ kind: 'unpostable', error: INTERRUPTED } as const)
    : await deliverToRoute(app, { task, route: endpoint });
  app.crashPoint('inbound-post-made');
  const now = app.clock.now();
  if (delivery.kind === 'postponed') {
    await app.db.commit(putBackTask, { ...task, dueAt: now + POSTPONED_MS });
    return delivery;
  }
  const settlement = settle({ task, endpoint }, delivery, { now, random: app.random });
  report(app, settlement, await commitOutcome(app, settlePost, settlement));
  app.crashPoint('inbound-post-settled');
  return delivery;
}

type Ended = Exclude<Delivery, { kind: 'postponed' }>;

function settle(
  { task, endpoint }: LeasedPost,
  delivery: Ended,
  { now, random }: { now: number; random: Random },
): PostSettlement {
  const { id, messageId, attempts, runId } = task;
  const of = {
    id,
    messageId,
    attempts,
    runId,
    now,
    routeId: endpoint.id,
    destination: endpoint.destination,
  };
  if (delivery.kind === 'unpostable') {
    const nothing = { responseStatus: null, responseTimeMs: null, responseBody: null };
    return { ...of, ...nothing, error: delivery.error, state: 'failed', dueAt: null, answer: 'none' };
  }
  const { state, dueAt } = nextAttempt(attempts, delivery, { now, random });
  return {
    ...of,
    ...resultOf(delivery),
    state: state === 'delivered' ? 'done' : state,
    dueAt,
    answer: answerOf(delivery),
  };
}

function answerOf({ kind }: Exclude<Ended, { kind: 'unpostable' }>): PostSettlement['answer'] {
  switch (kind) {
    case 'delivered':
      return 'taken';
    case 'gone':
      return 'gone';
    case 'refused':
    case 'unreachable':
      return 'refused';
  }
}

/** Logs the effect of a post for the operator. The owner sees it in the route and in the message. */
function report(
  { log }: Pick<PartApp, 'log'>,
  { id: taskId, routeId, messageId, state, error, attempts }: PostSettlement,
  effect: RouteEffect,
): void {
  switch (effect) {
    case 'stale':
      log.warn({ routeId, taskId, attempts }, 'a route answered after the lease of its post ran out');
      break;
    case 'gone':
      log.info({ routeId }, 'inbound route disabled: its receiver answered 410');
      break;
    case 'disabled':
      log.warn({ routeId, error }, 'inbound route disabled: it has taken nothing for days');
      break;
    case 'warned':
      log.warn({ routeId, error }, 'inbound route has taken nothing for a day');
      break;
    case 'none':
      if (state === 'failed')
        log.warn({ routeId, taskId, messageId, error }, 'a post to a route was given up');
  }
}
