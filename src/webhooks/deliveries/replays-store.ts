/**
 * Stores running replays: the range of an endpoint's deliveries that are still to be replayed. All SQL of this table
 * is here, and nothing else writes it. A disabled or deleted endpoint has no replay.
 */

import type { Tx } from '../../db/operation.ts';
import { deleteRows, findRow, putRow } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { WebhookReplayRow } from '../../db/webhook-tables.ts';

/** Kind of the tasks that continue replays. */
export const REPLAY_TASKS = 'webhook-replays';

type ReplayKey = Pick<WebhookReplayRow, 'endpointId' | 'state'>;

function findReplay(tx: Tx, { endpointId, state }: ReplayKey): Promise<WebhookReplayRow | undefined> {
  return findRow(tx, 'webhookReplays', { endpointId, state });
}

/** Adds a replay, and merges it with a running one: an endpoint has at most one replay of each state. */
export async function addReplay(tx: Tx, replay: WebhookReplayRow): Promise<void> {
  const { afterId, beforeId } = (await findReplay(tx, replay)) ?? replay;
  await putRow(tx, 'webhookReplays', {
    ...replay,
    afterId: afterId < replay.afterId ? afterId : replay.afterId,
    beforeId: beforeId > replay.beforeId ? beforeId : replay.beforeId,
  });
}

/** Moves a replay to the position where it continues; undefined removes it because it is done. */
export async function moveReplay(
  tx: Tx,
  replay: WebhookReplayRow,
  afterId: WebhookReplayRow['afterId'] | undefined,
): Promise<void> {
  if (afterId === undefined)
    await deleteRows(tx, 'webhookReplays', { endpointId: replay.endpointId, state: replay.state });
  else await putRow(tx, 'webhookReplays', { ...replay, afterId });
}

const ofEndpoint = statement((db, param: Param<Pick<WebhookReplayRow, 'endpointId'>>) =>
  db.selectFrom('webhookReplays').selectAll().where('endpointId', '=', param('endpointId')),
);

/** Returns the running replays of an endpoint. */
export function listReplays(tx: Tx, endpointId: WebhookReplayRow['endpointId']): Promise<WebhookReplayRow[]> {
  return ofEndpoint.all(tx, { endpointId });
}

/** Ends all replays of the endpoint. */
export async function endReplays(tx: Tx, endpointId: WebhookReplayRow['endpointId']): Promise<void> {
  await deleteRows(tx, 'webhookReplays', { endpointId });
}
