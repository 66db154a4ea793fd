/**
 * Posts deliveries again, as if they had just been made: one, whatever became of it, or all that failed or were skipped
 * since some time (api.md 1.8). A replayed delivery keeps its id and its event's, by which receivers know it again.
 */
import type { App } from '../../app.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { WebhookEndpointRow } from '../../db/tables.ts';
import { AppError } from '../../system/errors.ts';
import { firstIdAt } from '../../system/ids.ts';
import { getEndpoint, type Owner } from '../store.ts';
import { getDelivery, type LoggedDelivery } from './log/store.ts';
import {
  type AnewSlice,
  type BegunSlice,
  beginAnew,
  beginSliceAnew,
  type DeliveryId,
  KEPT_MS,
} from './store.ts';

type OfEndpoint = { owner: Owner; endpointId: string };

/** @throws AppError not_found, invalid_state */
export const replayDelivery = defineWrite(
  'webhooks.replayDelivery',
  async (
    tx,
    { owner, endpointId, id, now }: OfEndpoint & { id: string; now: number },
  ): Promise<LoggedDelivery> => {
    const endpoint = await getEndpoint(tx, owner, endpointId);
    const delivery = await getDelivery(tx, endpoint.id, id);
    requireEnabled(endpoint);
    if (delivery.epoch !== null) {
      throw new AppError('invalid_state', 'The delivery is being posted; wait for its end');
    }
    await beginAnew(tx, delivery.id, now);
    return getDelivery(tx, endpoint.id, id);
  },
);

/** A part of a replay that is bounded, so that other writes come between. @throws AppError not_found, invalid_state */
export const replaySlice = defineWrite(
  'webhooks.replaySlice',
  async (tx: Tx, { owner, endpointId, ...slice }: OfEndpoint & Omit<AnewSlice, 'endpointId'>) => {
    const endpoint = await getEndpoint(tx, owner, endpointId);
    requireEnabled(endpoint);
    return beginSliceAnew(tx, { ...slice, endpointId: endpoint.id });
  },
);

export type Replay = {
  /** Epoch milliseconds: of deliveries made then or later. */
  since: number;
  states: readonly AnewSlice['state'][];
};

/**
 * How many are posted again. An endpoint that is disabled or deleted meanwhile ends it, and them.
 *
 * @throws AppError not_found, invalid_state
 */
export async function replayAll(
  app: Pick<App, 'db' | 'clock' | 'notices'>,
  of: OfEndpoint,
  { since, states }: Replay,
): Promise<number> {
  const now = app.clock.now();
  const from = firstIdAt('whd', Math.max(since, now - KEPT_MS));
  const before = firstIdAt('whd', now + 1);
  let replayed = 0;
  try {
    for (const state of states) {
      let after: DeliveryId | undefined = from;
      while (after !== undefined) {
        const begun: BegunSlice = await app.db.commit(replaySlice, { ...of, state, after, before, now });
        replayed += begun.count;
        after = begun.last;
      }
    }
  } finally {
    app.notices.notify('webhooks');
  }
  return replayed;
}

function requireEnabled({ status }: Pick<WebhookEndpointRow, 'status'>): void {
  if (status === 'enabled') return;
  throw new AppError('invalid_state', 'The endpoint is disabled; enable it first');
}
