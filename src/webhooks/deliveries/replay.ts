/**
 * Replays deliveries: one in any state, or all that failed or were skipped since some time. A replayed delivery keeps
 * its id and the id of its event, by which receivers recognize it.
 */
import type { App } from '../../app.ts';
import { defineWrite } from '../../db/operation.ts';
import type { WebhookEndpointRow, WebhookReplayRow } from '../../db/webhook-tables.ts';
import { DAY_MS } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import { firstIdAt } from '../../system/ids.ts';
import type { Work } from '../../system/worker.ts';
import type { PartApp } from '../../thread-app.ts';
import { getEndpoint, type Owner } from '../store.ts';
import { getDelivery, type LoggedDelivery } from './log/store.ts';
import { addReplay, findReplay, moveReplay, nextReplay } from './replays/store.ts';
import { countReplayable, makeDueAgain, makeSliceDueAgain } from './store.ts';

type OfEndpoint = { owner: Owner; endpointId: string };

/**
 * Makes one delivery due again.
 * @throws AppError not_found, invalid_state
 */
export const replayDelivery = defineWrite(
  'webhooks.replayDelivery',
  async (
    tx,
    { owner, endpointId, id, now }: OfEndpoint & { id: string; now: number },
  ): Promise<LoggedDelivery> => {
    const endpoint = await getEndpoint(tx, owner, endpointId);
    const delivery = await getDelivery(tx, endpoint.id, id);
    requireEnabled(endpoint);
    if (delivery.runId !== null) {
      throw new AppError('invalid_state', 'The delivery is being posted; wait for its end');
    }
    await makeDueAgain(tx, delivery.id, now);
    return getDelivery(tx, endpoint.id, id);
  },
);

type Window = Pick<WebhookReplayRow, 'afterId' | 'beforeId'>;

/**
 * Makes the oldest deliveries due at once. The rest is recorded for the worker, because the size of a write is
 * bounded.
 * @throws AppError not_found, invalid_state
 */
const beginReplay = defineWrite(
  'webhooks.beginReplay',
  async (tx, { owner, endpointId, states, window, now }: OfEndpoint & BegunReplay): Promise<void> => {
    const endpoint = await getEndpoint(tx, owner, endpointId);
    requireEnabled(endpoint);
    for (const state of states) {
      const replay = { endpointId: endpoint.id, state, ...window };
      const last = await makeSliceDueAgain(tx, { ...replay, now });
      if (last !== undefined) await addReplay(tx, { ...replay, afterId: last });
    }
  },
);

type BegunReplay = { states: Replay['states']; window: Window; now: number };

/** Continues a replay with its next part; it does nothing when the replay has ended. */
const continueReplay = defineWrite(
  'webhooks.continueReplay',
  async (
    tx,
    { now, ...of }: Pick<WebhookReplayRow, 'endpointId' | 'state'> & { now: number },
  ): Promise<void> => {
    const replay = await findReplay(tx, of);
    if (replay) await moveReplay(tx, replay, await makeSliceDueAgain(tx, { ...replay, now }));
  },
);

/** Maximum number of deliveries that are counted, which takes a reader thread 0.1 s. Our own limit. */
export const MAX_COUNTED = 1_000_000;

export type Replay = {
  /** Start of the replayed deliveries in Unix milliseconds. */
  since: number;
  states: readonly WebhookReplayRow['state'][];
};

/**
 * Replays deliveries and returns their number, at most `MAX_COUNTED`. The replay is durable and continues in parts.
 * It ends when the endpoint is disabled or deleted.
 *
 * @throws AppError not_found, invalid_state
 */
export async function replayAll(
  app: Pick<App, 'db' | 'clock' | 'config' | 'wakeups' | 'clockWatch'>,
  of: OfEndpoint,
  { since, states }: Replay,
): Promise<number> {
  const now = app.clock.now();
  const window: Window = {
    afterId: firstIdAt('whd', Math.max(since, now - app.config.retention.webhookDays * DAY_MS)),
    // Ids begin with the time, so a clock that was set back has left ids with later times.
    beforeId: firstIdAt('whd', now + app.clockWatch.behindMs + 1),
  };
  const endpoint = await getEndpoint(app.db.read, of.owner, of.endpointId);
  requireEnabled(endpoint);
  const replayable = { endpointId: endpoint.id, states, ...window, limit: MAX_COUNTED };
  const count = await app.db.query(countReplayable, replayable);
  await app.db.commit(beginReplay, { ...of, states, window, now });
  app.wakeups.notify('webhooks');
  return count;
}

/**
 * Returns the work that continues replays, one endpoint after the other. A part that fails, for example on a full
 * disk, is tried again.
 */
export function createReplayWork(app: Pick<PartApp, 'db' | 'clock' | 'wakeups'>): Work<'continued'> {
  let served = '';
  return {
    name: 'webhook replays',
    wakeOn: ['webhooks'],
    concurrency: 1,
    async lease() {
      const replay = await nextReplay(app.db.read, served);
      if (!replay) return { items: [], nextDueAt: undefined };
      const { endpointId, state } = replay;
      served = endpointId;
      await app.db.commit(continueReplay, { endpointId, state, now: app.clock.now() });
      return { items: ['continued'], nextDueAt: undefined };
    },
    run: async () => app.wakeups.notify('webhooks'),
  };
}

function requireEnabled({ status }: Pick<WebhookEndpointRow, 'status'>): void {
  if (status === 'enabled') return;
  throw new AppError('invalid_state', 'The endpoint is disabled; enable it first');
}
