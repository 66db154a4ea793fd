/** Stores what the operator has asked of the queue. All SQL of this table is here, and nothing else writes it. */
import { sql } from 'kysely';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { QueueActionRow } from '../../db/queue-tables.ts';
import { findRow, insertRow, updateRows } from '../../db/rows.ts';
import { statement } from '../../db/statement.ts';

type ActionId = QueueActionRow['id'];

/** Stores a new action. */
export async function insertAction(tx: Tx, action: QueueActionRow): Promise<void> {
  await insertRow(tx, 'queueActions', action);
}

/** Returns an action, or undefined when it does not exist. */
export function findAction(tx: Tx, id: string): Promise<QueueActionRow | undefined> {
  return findRow(tx, 'queueActions', { id: id as ActionId });
}

/** The condition is literal, for the partial index `queueActionsInForce`. */
const isInForce = sql<boolean>`"isInForce" = 1`;

const inForce = statement((db) => db.selectFrom('queueActions').selectAll().where(isInForce).orderBy('id'));

/** Returns the actions that the claim obeys, the oldest first. There are none on most installations. */
export function listInForce(tx: Tx): Promise<QueueActionRow[]> {
  return inForce.all(tx, {});
}

/** Returns actions, the newest first, or those that are older than one of them. */
export function listActions(
  tx: Tx,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<QueueActionRow[]> {
  const actions = tx.selectFrom('queueActions').selectAll().orderBy('id', 'desc').limit(limit);
  return (after === undefined ? actions : actions.where('id', '<', after as ActionId)).execute();
}

/** Stores how far an action has come. */
export async function patchAction(
  tx: Tx,
  id: ActionId,
  set: Partial<
    Pick<QueueActionRow, 'changed' | 'queueCursor' | 'messageCursor' | 'finishedAt' | 'isInForce'>
  >,
): Promise<void> {
  await updateRows(tx, 'queueActions', { set, where: { id } });
}

/** Deletes actions of the range that have ended and are no longer in force. */
export const expireActions = defineWrite(
  'queue.expireActions',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'queueActions', range);
    const { numDeletedRows } = await tx
      .deleteFrom('queueActions')
      .where(isInSlice)
      .where('isInForce', '=', 0)
      .where('finishedAt', 'is not', null)
      .executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
