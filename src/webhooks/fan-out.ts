/**
 * From the event log to deliveries: what an event means to whom. The events of a batch are marked in the transaction
 * that makes their deliveries, so after a crash none is missed and none is made twice.
 */
import type { App } from '../app.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { type EventToFanOut, listEventsToFanOut, markFannedOut } from '../events/store.ts';
import type { Work } from '../system/worker.ts';
import { insertDelivery } from './deliveries/store.ts';
import { listSubscribers, type Subscriber } from './store.ts';

/** Events in one write: enough to keep up with any sending rate, few enough not to hold up the other writes. */
const BATCH = 500;
/** After so many deliveries the write ends too; with 50 endpoints an event alone may make 50. */
const MAX_DELIVERIES = 1_000;

export type FanOut = { now: number; limit: number };
/** `posts`: deliveries that are to be posted; `deliveries`: with those for endpoints that are disabled. */
export type FanOutCounts = { events: number; deliveries: number; posts: number };

/** Takes the oldest events nobody has looked at and makes a delivery for each endpoint that asked for their type. */
export const fanOutEvents = defineWrite(
  'webhooks.fanOut',
  async (tx, { now, limit }: FanOut): Promise<FanOutCounts> => {
    const counts: FanOutCounts = { events: 0, deliveries: 0, posts: 0 };
    const known = new Map<string, Subscriber[]>();
    let last: EventToFanOut | undefined;
    for (const event of await listEventsToFanOut(tx, limit)) {
      if (counts.deliveries >= MAX_DELIVERIES) break;
      for (const endpoint of await findSubscribers(tx, known, event)) {
        if (!endpoint.events.has(event.type)) continue;
        await insertDelivery(tx, event, endpoint, now);
        counts.deliveries += 1;
        if (endpoint.status === 'enabled') counts.posts += 1;
      }
      counts.events += 1;
      last = event;
    }
    if (last) await markFannedOut(tx, last.id);
    return counts;
  },
);

/** Read once for all events of a tenant in the batch. */
async function findSubscribers(
  tx: Tx,
  known: Map<string, Subscriber[]>,
  event: EventToFanOut,
): Promise<Subscriber[]> {
  const key = `${event.tenantId} ${event.mode}`;
  const subscribers = known.get(key) ?? (await listSubscribers(tx, event));
  known.set(key, subscribers);
  return subscribers;
}

/** The lease does all of it; what is left to run is to tell the webhook worker. */
export function createFanOutWork(app: Pick<App, 'db' | 'clock' | 'wakeups'>): Work<FanOutCounts> {
  return {
    name: 'webhook fan-out',
    wakeOn: ['events'],
    concurrency: 1,
    async lease() {
      // Most events are nobody's to hear of, and a look is cheaper than a commit.
      const waiting = await listEventsToFanOut(app.db.read, 1);
      if (waiting.length === 0) return [];
      const counts = await app.db.commit(fanOutEvents, { now: app.clock.now(), limit: BATCH });
      return counts.events > 0 ? [counts] : [];
    },
    async run({ posts }) {
      if (posts > 0) app.wakeups.notify('webhooks');
    },
    nextDueAt: async () => undefined,
  };
}
