/** Picks the queues of a site from which mail is claimed next. */
import type { Decision } from './events.ts';
import type { Serving } from './queue-order.ts';
import type { Queue, Site } from './site.ts';

/** Maximum number of delivery queues whose recipients of a message share one transaction. */
const MAX_QUEUES_PER_CLAIM = 200;

type Picked = {
  /** Each queue with the number of its messages. */
  take: Map<Queue, number>;
  /** Queues whose way has expired. They have left the site. */
  stale: Queue[];
};

/** Picks queues in their order for `wanted` messages; with `isUrgent` those alone whose mail does not wait for copies of broadcasts. */
export function pickQueues(
  site: Site,
  wanted: number,
  { isUrgent, now, ...serving }: Serving & { isUrgent: boolean; now: number },
): Picked {
  const picked: Picked = { take: new Map(), stale: [] };
  for (let count = 0; count < wanted; ) {
    const queue = isUrgent ? site.queues.nextUrgent(serving) : site.queues.next(serving);
    if (!queue) break;
    if (queue.routedUntil > now) {
      picked.take.set(queue, (picked.take.get(queue) ?? 0) + 1);
      count++;
    } else {
      site.queues.remove(queue);
      queue.site = undefined;
      picked.stale.push(queue);
    }
  }
  return picked;
}

/** Returns the decision to claim from the queues of a site. Each has the number of its messages. */
export function claimOf(site: Site, take: ReadonlyMap<Queue, number>): Extract<Decision, { kind: 'claim' }> {
  const together = withNeighbours(site, [...take.keys()]);
  return {
    kind: 'claim',
    site: site.key,
    take: [...take].map(([{ name }, limit]) => ({ queue: name.key, limit })),
    with: together.map(({ name }) => name.key),
    retriesOnly: together.filter(({ fullWarmUp }) => fullWarmUp).map(({ name }) => name.key),
  };
}

/** Returns queues of the same tenants at the site, with these: recipients of one message there travel together. */
function withNeighbours(site: Site, queues: readonly Queue[]): Queue[] {
  const found = new Set(queues);
  for (const tenantId of new Set(queues.map(({ name }) => name.tenantId)))
    for (const queue of site.queues.queuesOf(tenantId)) {
      if (found.size >= MAX_QUEUES_PER_CLAIM) break;
      found.add(queue);
    }
  return [...found];
}
