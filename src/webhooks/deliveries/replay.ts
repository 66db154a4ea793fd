/**
 * Posts deliveries again, as if they had just been made: one, whatever became of it, or all that failed or were skipped
 * since some time (api.md 1.8). A replayed delivery keeps its id and its event's, by which receivers know it again.
 */
import type { App } from '../../app.ts';
import { defineWrite } from '../../db/operation.ts';
import type { WebhookEndpointRow, WebhookReplayRow } from '../../db/tables.ts';
import { AppError } from '../../system/errors.ts';
import { firstIdAt } from '../../system/ids.ts';
import type { Work } from '../../system/worker.ts';
import { getEndpoint, type Owner } from '../store.ts';
import { getDelivery, type LoggedDelivery } from './log/store.ts';
import { addReplay, findReplay, moveReplay, nextReplay } from './replays/store.ts';
import { beginAnew, beginSliceAnew, countReplayable, KEPT_MS } from './store.ts';

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
    if (delivery.runId !== null) {
      throw new AppError('invalid_state', 'The delivery is being posted; wait for its end');
    }
    await beginAnew(tx, delivery.id, now);
    return getDelivery(tx, endpoint.id, id);
  },
);

type Window = Pick<WebhookReplayRow, 'afterId' | 'beforeId'>;

/** The oldest at once, and the rest is noted for the worker: a write is bounded. @throws AppError not_found, invalid_state */
export const beginReplay = defineWrite(
  'webhooks.beginReplay',
  async (tx, { owner, endpointId, states, window, now }: OfEndpoint & BegunReplay): Promise<void> => {
    const endpoint = await getEndpoint(tx, owner, endpointId);
    requireEnabled(endpoint);
    for (const state of states) {
      const replay = { endpointId: endpoint.id, state, ...window };
      const last = await beginSliceAnew(tx, { ...replay, now });
      if (last !== undefined) await addReplay(tx, { ...replay, afterId: last });
    }
  },
);

type BegunReplay = { states: Replay['states']; window: Window; now: number };

/** The next part of a replay; nothing where it has ended. */
export const continueReplay = defineWrite(
  'webhooks.continueReplay',
  async (
    tx,
    { now, ...of }: Pick<WebhookReplayRow, 'endpointId' | 'state'> & { now: number },
  ): Promise<void> => {
    const replay = await findReplay(tx, of);
    if (replay) await moveReplay(tx, replay, await beginSliceAnew(tx, { ...replay, now }));
  },
);

/** A million take a reader thread 0.1 s; ours. */
export const MAX_COUNTED = 1_000_000;

export type Replay = {
  /** Epoch milliseconds: of deliveries made then or later. */
  since: number;
  states: readonly WebhookReplayRow['state'][];
};

/**
 * How many are posted again, `MAX_COUNTED` when that is more. They are noted durably, and begun in turn. An endpoint
 * that is disabled or deleted meanwhile ends it, and them.
 *
 * @throws AppError not_found, invalid_state
 */
export async function replayAll(
  app: Pick<App, 'db' | 'clock' | 'wakeups' | 'clockWatch'>,
  of: OfEndpoint,
  { since, states }: Replay,
): Promise<number> {
  const now = app.clock.now();
  const window: Window = {
    afterId: firstIdAt('whd', Math.max(since, now - KEPT_MS)),
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

/** Goes on with what `beginReplay` left, an endpoint after the other; what fails, for want of disk, is tried again. */
export function createReplayWork(app: Pick<App, 'db' | 'clock' | 'wakeups'>): Work<'continued'> {
  let served = '';
  return {
    name: 'webhook replays',
    wakeOn: ['webhooks'],
    concurrency: 1,
    async lease() {
      const replay = await nextReplay(app.db.read, served);
      if (!replay) return [];
      const { endpointId, state } = replay;
      served = endpointId;
      await app.db.commit(continueReplay, { endpointId, state, now: app.clock.now() });
      return ['continued'];
    },
    run: async () => app.wakeups.notify('webhooks'),
    nextDueAt: async () => undefined,
  };
}

function requireEnabled({ status }: Pick<WebhookEndpointRow, 'status'>): void {
  if (status === 'enabled') return;
  throw new AppError('invalid_state', 'The endpoint is disabled; enable it first');
}
