/**
 * Creates deliveries from the event log. One transaction marks a batch of events and stores their deliveries, so a
 * crash neither loses nor repeats any. It also leases the deliveries that can be posted at once.
 */

import { defineWrite, type Tx } from '../db/operation.ts';
import {
  type EventKind,
  type EventToFanOut,
  listEventsToFanOut,
  listKindsToFanOut,
  markFannedOut,
} from '../events/store.ts';
import type { Arrivals } from '../tasks/kind.ts';
import { LEASE_OPTIONS, type LeasedTask, type LeaseTasks, leaseTasks } from '../tasks/store.ts';
import type { PartApp } from '../thread-app.ts';
import { insertDelivery } from './deliveries/store.ts';
import { findDomainsOfEvent } from './domain-events.ts';
import { listSubscribers, type Subscriber } from './store.ts';

/** Maximum number of events in one write. A write every 20 ms is enough for any sending rate, and none delays other writes. */
const BATCH = 100;
/** Number of deliveries after which the write ends. With 50 endpoints, a single event may create 50. */
const MAX_DELIVERIES = 1_000;

type FanOut = {
  now: number;
  limit: number;
  /** The run that leases deliveries, and how many to each endpoint. The others wait. */
  lease?: { runId: string; free: ReadonlyMap<string, number> };
};
/** `deliveries` also counts those of disabled endpoints. */
type FannedOut = { events: number; deliveries: number; leased: LeasedTask[] };

/**
 * Creates the deliveries of the oldest waiting events, one for each endpoint that subscribes to the type. An
 * endpoint of one domain gets the events of that domain alone.
 */
export const fanOutEvents = defineWrite(
  'webhooks.fanOut',
  async (tx, { now, limit, lease }: FanOut): Promise<FannedOut> => {
    const made: FannedOut = { events: 0, deliveries: 0, leased: [] };
    const known = new Map<string, Subscriber[]>();
    const free = new Map(lease?.free);
    let last: EventToFanOut | undefined;
    for (const event of await listEventsToFanOut(tx, limit)) {
      if (made.deliveries >= MAX_DELIVERIES) break;
      for (const endpoint of await findReceivers(tx, known, event)) {
        const left = free.get(endpoint.id) ?? 0;
        const runId = left > 0 ? lease?.runId : undefined;
        const leased = await insertDelivery(tx, event, { endpoint, now, runId });
        if (leased) made.leased.push(leased);
        free.set(endpoint.id, left - 1);
        made.deliveries += 1;
      }
      made.events += 1;
      last = event;
    }
    if (last) await markFannedOut(tx, last.id);
    return made;
  },
);

/** Leases waiting deliveries, and then new ones as far as claims are left, so that those to an endpoint keep their order. */
export const leaseDeliveries = defineWrite(
  'webhooks.lease',
  async (tx, lease: LeaseTasks): Promise<LeasedTask[]> => {
    const waiting = await leaseTasks.run(tx, lease);
    const free = new Map(lease.claims.map(({ queueKey, limit }) => [queueKey, limit]));
    for (const { queueKey } of waiting) free.set(queueKey, (free.get(queueKey) ?? 0) - 1);
    const { now, runId } = lease;
    const { leased } = await fanOutEvents.run(tx, { now, limit: BATCH, lease: { runId, free } });
    return [...waiting, ...leased];
  },
  LEASE_OPTIONS,
);

/** Returns the events that wait as arrivals of the kind of posts. */
export function createArrivals({ db }: Pick<PartApp, 'db'>): Arrivals {
  return {
    wakeOn: ['events'],
    async list() {
      const kinds = await listKindsToFanOut(db.read, BATCH);
      if (kinds.length === 0) return undefined;
      const known = new Map<string, Subscriber[]>();
      const queues = new Map<string, EventKind['tenantId']>();
      for (const kind of kinds)
        for (const endpoint of await findSubscribers(db.read, known, kind))
          if (endpoint.status === 'enabled') queues.set(endpoint.id, kind.tenantId);
      return [...queues].map(([queueKey, tenantId]) => ({ queueKey, tenantId }));
    },
    lease: leaseDeliveries,
  };
}

/** Returns the endpoints that get an event. Its domains are looked up once, however many endpoints have one. */
async function findReceivers(
  tx: Tx,
  known: Map<string, Subscriber[]>,
  event: EventToFanOut,
): Promise<Subscriber[]> {
  const subscribers = await findSubscribers(tx, known, event);
  if (subscribers.every(({ domainId }) => domainId === null)) return subscribers;
  const domains = await findDomainsOfEvent(tx, event);
  return subscribers.filter(({ domainId }) => domainId === null || domains.has(domainId));
}

/** Returns the endpoints of the event's owner that subscribe to its type. They are read once for all events of a batch. */
async function findSubscribers(
  tx: Tx,
  known: Map<string, Subscriber[]>,
  event: EventKind,
): Promise<Subscriber[]> {
  const key = `${event.tenantId} ${event.mode}`;
  const subscribers = known.get(key) ?? (await listSubscribers(tx, event));
  known.set(key, subscribers);
  return subscribers.filter(({ events }) => events.has(event.type));
}
