/** Settles the posts of deliveries (posting/settle.ts). */
import type { Tx } from '../db/operation.ts';
import { firstIdAt } from '../system/ids.ts';
import {
  countFailing,
  type DeliveryId,
  type EndpointId,
  endPending,
  recordPost,
} from './deliveries/store.ts';
import { defineSettle, type Endpoint, type PostTarget } from './posting/settle.ts';
import { disableEndpoint, findEndpoint, noteFailing, noteSuccess, type Receiver } from './store.ts';

/** Returns an endpoint as posts see it. */
export async function findReceiver(tx: Tx, id: string): Promise<(Receiver & Endpoint) | undefined> {
  const endpoint = await findEndpoint(tx, id as EndpointId);
  return endpoint && { ...endpoint, isEnabled: endpoint.status === 'enabled' };
}

const target: PostTarget = {
  find: findReceiver,
  record: (tx, { reference, now: _, ...post }) => recordPost(tx, { ...post, id: reference as DeliveryId }),
  endWaiting: (tx, { id, why }) => endPending(tx, id as EndpointId, why),
  noteSuccess: (tx, id) => noteSuccess(tx, id as EndpointId),
  noteFailing: (tx, failure) => noteFailing(tx, { ...failure, id: failure.id as EndpointId }),
  disable: (tx, end) => disableEndpoint(tx, { ...end, id: end.id as EndpointId }),
  countFailing: (tx, id, { after, before, limit }) =>
    countFailing(tx, {
      endpointId: id as EndpointId,
      limit,
      after: firstIdAt('whd', after),
      before: firstIdAt('whd', before),
    }),
};

/** Settles posts, and returns the effect of each on its endpoint. */
export const settleDelivery = defineSettle('webhooks.settle', target);
