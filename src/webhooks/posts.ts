/** The posts of deliveries: what a webhook endpoint is to the common way of posting (posting/kind.ts). */

import { readingTogether } from '../db/read-together.ts';
import type { EventRow } from '../db/tables.ts';
import { findEventOfDelivery } from '../events/store.ts';
import { periodic, type Work } from '../system/worker.ts';
import type { TaskKind } from '../tasks/kind.ts';
import type { LeasedTask } from '../tasks/store.ts';
import type { PartApp } from '../thread-app.ts';
import { payloadFor, post } from './deliver.ts';
import { CLOSED, type DeliveryId, findOldestPending, WEBHOOK_TASKS } from './deliveries/store.ts';
import { dataForEndpoint } from './domain-events.ts';
import { createPostKind, type PostingApp, type Unposted } from './posting/kind.ts';
import type { PostOutcome } from './posting/post.ts';
import { findReceiver, settleDelivery } from './settle.ts';
import { endSuspensions, forgetPreviousSecrets, type Receiver } from './store.ts';

/** Returns the kind of the posts of deliveries. */
export function createWebhookKind(app: PostingApp): TaskKind {
  const find = readingTogether(app.db.read, findEventOfDelivery);
  return createPostKind(app, {
    name: WEBHOOK_TASKS,
    what: 'webhook endpoint',
    idField: 'endpointId',
    find: findReceiver,
    table: 'webhookEndpoints',
    metric: { name: 'webhook_posts_total', help: 'Posts to webhook endpoints.' },
    lagMetric: {
      name: 'webhook_oldest_event_seconds',
      help: 'Age of the oldest event that waits to be posted.',
    },
    findOldest: findOldestPending,
    closed: CLOSED,
    settle: settleDelivery,
    endSuspensions,
    post: (task, endpoint) => postDelivery(app, task, { endpoint, find }),
  });
}

async function postDelivery(
  app: PartApp,
  { reference }: LeasedTask,
  { endpoint, find }: { endpoint: Receiver; find: (id: DeliveryId) => Promise<EventRow | undefined> },
): Promise<PostOutcome | Unposted> {
  const id = reference as DeliveryId;
  const event = await find(id);
  // Retention removes events, for example when the daemon was down for months.
  if (!event) return { kind: 'unpostable', error: 'The event is no longer kept' };
  const data = await dataForEndpoint(app.db.read, event, endpoint);
  return post(app, { id, endpoint, event, body: payloadFor(endpoint, { ...event, data }) });
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
