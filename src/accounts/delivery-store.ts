/** Stores which deliveries are in the account. All SQL of the table is here, and nothing else writes it. */

import { sql } from 'kysely';
import { type Param, statement } from '../db/statement.ts';
import { insertRowOnce } from './rows.ts';
import type { AccountTx } from './store.ts';
import type { DeliveryRow } from './tables.ts';

/** Time of ids that are kept for ever. */
export const FOR_EVER = Number.MAX_SAFE_INTEGER;

/** Adds a delivery. Returns false when it was added before. */
export async function insertDelivery(tx: AccountTx, row: DeliveryRow): Promise<boolean> {
  return insertRowOnce(tx, 'deliveries', row);
}

/** Forgets deliveries before a time, at most `count`, and returns their number. */
export async function deleteOldDeliveries(tx: AccountTx, before: number, count: number): Promise<number> {
  const rows = await tx
    .deleteFrom('deliveries')
    .where('id', 'in', (db) =>
      db.selectFrom('deliveries').select('id').where('at', '<', before).orderBy('at').limit(count),
    )
    .returning('id')
    .execute();
  return rows.length;
}

const knownOf = statement((db: AccountTx, param: Param<{ ids: string }>) =>
  db
    .selectFrom('deliveries')
    .select('id')
    .where('id', 'in', (where) =>
      where.selectFrom(sql<{ value: string }>`json_each(${param('ids')})`.as('ids')).select('value'),
    ),
);

/** Returns those of the ids whose deliveries are stored. */
export async function listKnownDeliveries(
  tx: AccountTx,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await knownOf.all(tx, { ids: JSON.stringify(ids) });
  return new Set(rows.map(({ id }) => id));
}

const countAt = statement((db: AccountTx, param: Param<{ at: number }>) =>
  db
    .selectFrom('deliveries')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('at', '=', param('at')),
);

/** Returns the number of deliveries of exactly this time. */
export async function countDeliveriesAt(tx: AccountTx, at: number): Promise<number> {
  return (await countAt.first(tx, { at }))?.count ?? 0;
}
