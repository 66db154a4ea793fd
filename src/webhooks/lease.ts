/** Leases due deliveries, so that nothing else posts them at the same time. The lease is durable before the post. */
import { defineWrite, type Tx } from '../db/operation.ts';
import type { EventRow } from '../db/tables.ts';
import { findEvent } from '../events/store.ts';
import {
  endPending,
  endWithoutEvent,
  giveUpUnsettled,
  type LeaseToken,
  leaseDue,
} from './deliveries/store.ts';
import { dataForEndpoint } from './domain-events.ts';
import { MAX_ATTEMPTS } from './posting/schedule.ts';
import type { Claim } from './posting/slots.ts';
import { findEndpoint, type Receiver } from './store.ts';

/** A leased delivery with everything that its post needs. */
export type LeasedDelivery = {
  lease: LeaseToken;
  endpoint: Receiver;
  event: Pick<EventRow, 'id' | 'type' | 'mode' | 'createdAt' | 'data'>;
};

type Lease = {
  now: number;
  /** End of the lease in Unix milliseconds. An unsettled delivery is due again from then on. */
  until: number;
  runId: string;
  claims: readonly Claim[];
};

/** Leases due deliveries of the named endpoints, up to the limit of each. */
export const leaseDeliveries = defineWrite(
  'webhooks.lease',
  async (tx, { claims, ...lease }: Lease): Promise<LeasedDelivery[]> => {
    const leased: LeasedDelivery[] = [];
    for (const { endpointId, limit } of claims) {
      const endpoint = await findEndpoint(tx, endpointId);
      if (endpoint?.status === 'enabled') {
        // The endpoint may be suspended: a post that was in flight when the claims were made may have failed since.
        if (endpoint.suspendedUntil !== null && endpoint.suspendedUntil > lease.now) continue;
        leased.push(...(await leaseFor(tx, endpoint, { ...lease, limit })));
      } else {
        await endPending(tx, endpointId, { why: endpoint ? 'disabled' : 'deleted', now: lease.now });
      }
    }
    return leased;
  },
);

async function leaseFor(
  tx: Tx,
  endpoint: Receiver,
  lease: Omit<Lease, 'claims'> & { limit: number },
): Promise<LeasedDelivery[]> {
  const leased: LeasedDelivery[] = [];
  for (const row of await leaseDue(tx, { ...lease, endpointId: endpoint.id })) {
    if (row.attempts > MAX_ATTEMPTS) {
      await giveUpUnsettled(tx, row.id, MAX_ATTEMPTS);
      continue;
    }
    const event = await findEvent(tx, row.eventId);
    if (!event) {
      await endWithoutEvent(tx, row);
      continue;
    }
    const { type, mode, createdAt } = event;
    const data = await dataForEndpoint(tx, event, endpoint);
    leased.push({
      lease: { id: row.id, attempts: row.attempts, runId: lease.runId },
      endpoint,
      event: { id: row.eventId, type, mode, createdAt, data },
    });
  }
  return leased;
}
