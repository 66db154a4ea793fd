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
import { leaseOf, type TaskKind } from '../../tasks/kind.ts';
import { completeTask, type Lease, retryTask, scheduleTask, type TaskEnd } from '../../tasks/store.ts';
import type { PartApp } from '../../thread-app.ts';
import { addReplay, listReplays, moveReplay, REPLAY_TASKS } from '../deliveries/replays-store.ts';
import { countReplayable, makeDueAgain, makeSliceDueAgain } from '../deliveries/store.ts';
import { getEndpoint, type Owner } from '../store.ts';
import { getDelivery, type LoggedDelivery } from './store.ts';

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
      if (last === undefined) continue;
      await addReplay(tx, { ...replay, afterId: last });
      const { id: reference, tenantId } = endpoint;
      await scheduleTask(tx, { kind: REPLAY_TASKS, reference, queueKey: reference, tenantId, dueAt: now });
    }
  },
);

type BegunReplay = { states: Replay['states']; window: Window; now: number };

/** Continues the replays of an endpoint with their next parts, as a run of their task. */
const continueReplays = defineWrite(
  'webhooks.continueReplays',
  async (tx, { lease, now }: { lease: Lease; now: number }): Promise<TaskEnd> => {
    const endpointId = lease.reference as WebhookReplayRow['endpointId'];
    for (const replay of await listReplays(tx, endpointId))
      await moveReplay(tx, replay, await makeSliceDueAgain(tx, { ...replay, now }));
    const isDone = (await listReplays(tx, endpointId)).length === 0;
    return isDone ? completeTask.run(tx, lease) : retryTask.run(tx, { lease, dueAt: now, attempts: 0 });
  },
);

/** Maximum number of deliveries that are counted, which takes a reader thread 0.1 s. */
export const MAX_COUNTED = 1_000_000;

export type Replay = {
  /** Start of the replayed deliveries in Unix milliseconds. */
  since: number;
  states: readonly WebhookReplayRow['state'][];
};

type ReplayApp = Pick<App, 'db' | 'clock' | 'config' | 'clockWatch'>;

/**
 * Returns the number of deliveries that a replay would make due again, counted up to `maximum`.
 *
 * @throws AppError not_found, invalid_state
 */
export async function countReplay(
  app: ReplayApp,
  { owner, endpointId }: OfEndpoint,
  { since, states, maximum }: Replay & { maximum: number },
): Promise<number> {
  const endpoint = await getEndpoint(app.db.read, owner, endpointId);
  requireEnabled(endpoint);
  const window = windowOf(app, since);
  return app.db.query(countReplayable, { endpointId: endpoint.id, states, ...window, limit: maximum });
}

/**
 * Replays deliveries and returns their number, at most `MAX_COUNTED`. The replay is durable and continues in parts.
 * It ends when the endpoint is disabled or deleted.
 *
 * @throws AppError not_found, invalid_state
 */
export async function replayAll(app: ReplayApp, of: OfEndpoint, replay: Replay): Promise<number> {
  const count = await countReplay(app, of, { ...replay, maximum: MAX_COUNTED });
  const [now, window] = [app.clock.now(), windowOf(app, replay.since)];
  await app.db.commit(beginReplay, { ...of, states: replay.states, window, now });
  return count;
}

function windowOf({ clock, config, clockWatch }: Omit<ReplayApp, 'db'>, since: number): Window {
  const now = clock.now();
  return {
    afterId: firstIdAt('whd', Math.max(since, now - config.retention.webhookDays * DAY_MS)),
    // Ids begin with the time, so a clock that was set back has left ids with later times.
    beforeId: firstIdAt('whd', now + clockWatch.behindMs + 1),
  };
}

const RETRY_DELAY_MS = 1_000;

/** Returns the kind of the replays, which take turns. A part that fails, for example on a full disk, is tried again. */
export function createReplayKind(app: Pick<PartApp, 'db' | 'clock'>): TaskKind {
  return {
    name: REPLAY_TASKS,
    leavesHost: false,
    concurrency: 1,
    backOff: () => RETRY_DELAY_MS,
    async run(task) {
      return app.db.commit(continueReplays, { lease: leaseOf(task), now: app.clock.now() });
    },
  };
}

function requireEnabled({ status }: Pick<WebhookEndpointRow, 'status'>): void {
  if (status === 'enabled') return;
  throw new AppError('invalid_state', 'The endpoint is disabled; enable it first');
}
