/**
 * Settles a post: one transaction stores the delivery's new state and its effect on the endpoint. An endpoint that has
 * failed for days is disabled, and one that answers 410 is disabled at once.
 */
import { defineWrite, type Tx } from '../db/operation.ts';
import { firstIdAt } from '../system/ids.ts';
import {
  countFailing,
  type Ended,
  type EndpointId,
  endPending,
  type LeaseToken,
  settleLeased,
} from './deliveries/store.ts';
import { MAX_ATTEMPTS } from './posting/schedule.ts';
import { failedAgain, hasFailedTooLong } from './posting/suspension.ts';
import { disableEndpoint, type EndpointById, findEndpoint, noteFailing, noteSuccess } from './store.ts';

export type Settlement = LeaseToken &
  Ended & {
    endpointId: EndpointId;
    /** URL of the post. The endpoint may have another one by now. */
    url: string;
    now: number;
    /** True when the receiver answered 410 and wants no more posts. */
    gone: boolean;
  };

/** Effect of a post on its endpoint. `stale` means that the lease was no longer valid and nothing changed. */
export type EndpointEffect = 'stale' | 'none' | 'warned' | 'disabled' | 'gone';

/** Settles a post and returns its effect on the endpoint. */
export const settleDelivery = defineWrite(
  'webhooks.settle',
  async (tx, settlement: Settlement): Promise<EndpointEffect> => {
    const { endpointId, now, gone } = settlement;
    if (settlement.state === 'delivered') {
      if (!(await settleLeased(tx, settlement))) return 'stale';
      await noteSuccess(tx, endpointId);
      return 'none';
    }
    const endpoint = await findEndpoint(tx, endpointId);
    const hasMoved = endpoint !== undefined && endpoint.url !== settlement.url;
    const ended = hasMoved ? { ...settlement, ...nextReceiver(settlement) } : settlement;
    if (!(await settleLeased(tx, ended))) return 'stale';
    if (endpoint?.status !== 'enabled') {
      await endPending(tx, endpointId, { why: endpoint ? 'disabled' : 'deleted', now });
      return 'none';
    }
    if (hasMoved) return 'none';
    if (gone) {
      await disableEndpoint(tx, { id: endpointId, reason: 'gone', now });
      return 'gone';
    }
    return settleFailure(tx, endpoint, now);
  },
);

/** Makes a delivery due for the new URL of its endpoint, because the refusal came from the previous one. */
function nextReceiver({ attempts, now }: Settlement): Partial<Ended> {
  return attempts < MAX_ATTEMPTS ? { state: 'pending', dueAt: now } : {};
}

async function settleFailure(tx: Tx, endpoint: EndpointById, now: number): Promise<EndpointEffect> {
  const { failing, warns } = failedAgain(endpoint, now);
  const isHopeless = await hasFailedTooLong(failing, now, ({ after, before, limit }) =>
    countFailing(tx, {
      endpointId: endpoint.id,
      after: firstIdAt('whd', after),
      before: firstIdAt('whd', before),
      limit,
    }),
  );
  if (isHopeless) {
    await disableEndpoint(tx, { id: endpoint.id, reason: 'failures', now });
    return 'disabled';
  }
  await noteFailing(tx, { id: endpoint.id, ...failing });
  return warns ? 'warned' : 'none';
}
