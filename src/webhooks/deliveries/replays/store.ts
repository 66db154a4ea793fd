/**
 * Replays that are under way: which deliveries of an endpoint are still to be posted again. All their SQL, and the only
 * writer of their table. There is none of an endpoint that is disabled or deleted.
 */
import type { Tx } from '../../../db/operation.ts';
import { type Param, statement } from '../../../db/statement.ts';
import type { WebhookReplayRow } from '../../../db/tables.ts';

type ReplayKey = Pick<WebhookReplayRow, 'endpointId' | 'state'>;

const byKey = statement((db, param: Param<ReplayKey>) =>
  db
    .selectFrom('webhookReplays')
    .selectAll()
    .where('endpointId', '=', param('endpointId'))
    .where('state', '=', param('state')),
);

export function findReplay(tx: Tx, { endpointId, state }: ReplayKey): Promise<WebhookReplayRow | undefined> {
  return byKey.first(tx, { endpointId, state });
}

const upsert = statement((db, param: Param<WebhookReplayRow>) =>
  db
    .insertInto('webhookReplays')
    .values({
      endpointId: param('endpointId'),
      state: param('state'),
      afterId: param('afterId'),
      beforeId: param('beforeId'),
    })
    .onConflict((conflict) =>
      conflict.columns(['endpointId', 'state']).doUpdateSet((set) => ({
        afterId: set.ref('excluded.afterId'),
        beforeId: set.ref('excluded.beforeId'),
      })),
    ),
);

/** Together with what is left of one under way: an endpoint has one of each state at most, however often it is asked. */
export async function addReplay(tx: Tx, replay: WebhookReplayRow): Promise<void> {
  const { afterId, beforeId } = (await findReplay(tx, replay)) ?? replay;
  await upsert.all(tx, {
    ...replay,
    afterId: afterId < replay.afterId ? afterId : replay.afterId,
    beforeId: beforeId > replay.beforeId ? beforeId : replay.beforeId,
  });
}

const removeOne = statement((db, param: Param<ReplayKey>) =>
  db
    .deleteFrom('webhookReplays')
    .where('endpointId', '=', param('endpointId'))
    .where('state', '=', param('state')),
);

/** From where it goes on; undefined: it is done. */
export async function moveReplay(
  tx: Tx,
  replay: WebhookReplayRow,
  afterId: WebhookReplayRow['afterId'] | undefined,
): Promise<void> {
  if (afterId === undefined) await removeOne.all(tx, replay);
  else await upsert.all(tx, { ...replay, afterId });
}

const firstPast = statement((db, param: Param<{ past: string }>) =>
  db
    .selectFrom('webhookReplays')
    .selectAll()
    .where('endpointId', '>', param('past') as WebhookReplayRow['endpointId'])
    .orderBy('endpointId')
    .orderBy('state')
    .limit(1),
);

/** One of the endpoint that comes after this one, or of the first, so that all take turns. */
export async function nextReplay(tx: Tx, past: string): Promise<WebhookReplayRow | undefined> {
  return (await firstPast.first(tx, { past })) ?? (await firstPast.first(tx, { past: '' }));
}

const removeAll = statement((db, param: Param<Pick<WebhookReplayRow, 'endpointId'>>) =>
  db.deleteFrom('webhookReplays').where('endpointId', '=', param('endpointId')),
);

/** Nothing more is posted again to the endpoint. */
export async function endReplays(tx: Tx, endpointId: WebhookReplayRow['endpointId']): Promise<void> {
  await removeAll.all(tx, { endpointId });
}
