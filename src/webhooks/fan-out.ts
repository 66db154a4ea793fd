/**
 * Creates deliveries from the event log. One transaction marks a batch of events and stores their deliveries, so a
 * crash neither loses nor repeats any.
 */

import { defineWrite, type Tx } from '../db/operation.ts';
import { type EventToFanOut, listEventsToFanOut, markFannedOut } from '../events/store.ts';
import type { Work } from '../system/worker.ts';
import type { PartApp } from '../thread-app.ts';
import { insertDelivery } from './deliveries/store.ts';
import { findDomainsOfEvent } from './domain-events.ts';
import { listSubscribers, type Subscriber } from './store.ts';

/**
 * Maximum number of events in one write. It is enough for any sending rate, and such a write does not delay other
 * writes.
 */
const BATCH = 500;
/** Minimum time between two writes, so that a busy daemon has few of them. */
const INTERVAL_MS = 100;
/** Number of deliveries after which the write ends. With 50 endpoints, a single event may create 50. */
const MAX_DELIVERIES = 1_000;

type FanOut = { now: number; limit: number };
/** `deliveries` also counts those of disabled endpoints. */
type FanOutCounts = { events: number; deliveries: number };

/**
 * Creates the deliveries of the oldest waiting events, one for each endpoint that subscribes to the type. An
 * endpoint of one domain gets the events of that domain alone.
 */
export const fanOutEvents = defineWrite(
  'webhooks.fanOut',
  async (tx, { now, limit }: FanOut): Promise<FanOutCounts> => {
    const counts = { events: 0, deliveries: 0 };
    const known = new Map<string, Subscriber[]>();
    let last: EventToFanOut | undefined;
    for (const event of await listEventsToFanOut(tx, limit)) {
      if (counts.deliveries >= MAX_DELIVERIES) break;
      for (const endpoint of await findReceivers(tx, known, event)) {
        await insertDelivery(tx, event, { endpoint, now });
        counts.deliveries += 1;
      }
      counts.events += 1;
      last = event;
    }
    if (last) await markFannedOut(tx, last.id);
    return counts;
  },
);

/** Returns the endpoints that get an event. Its domains are looked up once, however many endpoints have one. */
async function findReceivers(
  tx: Tx,
  known: Map<string, Subscriber[]>,
  event: EventToFanOut,
): Promise<Subscriber[]> {
  const subscribers = (await findSubscribers(tx, known, event)).filter(({ events }) =>
    events.has(event.type),
  );
  if (subscribers.every(({ domainId }) => domainId === null)) return subscribers;
  const domains = await findDomainsOfEvent(tx, event);
  return subscribers.filter(({ domainId }) => domainId === null || domains.has(domainId));
}

/** Returns the endpoints of the event's owner. They are read once for all events of a batch. */
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

/**
 * Returns the work of the fan-out. Each call of `lease` creates the deliveries of one batch. It is no kind of task, because it has
 * no schedule: events wake it, and the log says how far it has come.
 */
export function createFanOutWork({ db, clock }: Pick<PartApp, 'db' | 'clock'>): Work<never> {
  return {
    name: 'webhook fan-out',
    wakeOn: ['events'],
    leaseIntervalMs: INTERVAL_MS,
    async lease() {
      // Most events have no subscribers, and a read is cheaper than a commit.
      const waiting = await listEventsToFanOut(db.read, 1);
      if (waiting.length === 0) return { items: [], nextDueAt: undefined };
      const now = clock.now();
      await db.commit(fanOutEvents, { now, limit: BATCH });
      return { items: [], nextDueAt: now };
    },
    run: async () => {},
  };
}
