/**
 * Stores when each contact last received, opened and clicked a broadcast. All SQL of this table is here, and nothing else
 * writes it. Segments test it with `within_days`. The latest times suffice for that, so a contact has one row, however many
 * broadcasts it received.
 */

import { sql } from 'kysely';
import type { ContactActivityRow } from '../../db/broadcast-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { deleteRows } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';

type ContactId = ContactActivityRow['contactId'];
type Times = Pick<ContactActivityRow, 'deliveredAt' | 'openedAt' | 'clickedAt'>;

/** The `max` of SQLite is null when one of its values is null. */
const latest = (column: keyof Times) =>
  sql<number | null>`CASE
    WHEN excluded.${sql.ref(column)} IS NULL THEN ${sql.ref(column)}
    ELSE max(coalesce(${sql.ref(column)}, 0), excluded.${sql.ref(column)})
  END`;

const put = statement((db, param: Param<Times & { contactId: ContactId }>) =>
  db
    .insertInto('contactActivity')
    .columns(['audienceId', 'contactId', 'deliveredAt', 'openedAt', 'clickedAt'])
    .expression((select) =>
      select
        .selectFrom('contacts')
        .select(['audienceId', 'id', sql<number | null>`${param('deliveredAt')}`.as('deliveredAt')])
        .select(sql<number | null>`${param('openedAt')}`.as('openedAt'))
        .select(sql<number | null>`${param('clickedAt')}`.as('clickedAt'))
        .where('id', '=', param('contactId')),
    )
    .onConflict((conflict) =>
      conflict.columns(['audienceId', 'contactId']).doUpdateSet({
        deliveredAt: latest('deliveredAt'),
        openedAt: latest('openedAt'),
        clickedAt: latest('clickedAt'),
      }),
    ),
);

/**
 * Records the latest times of a contact, as part of a write. Earlier times than the stored ones change nothing, and neither
 * does a contact that was deleted.
 */
export async function recordActivity(tx: Tx, contactId: ContactId, times: Partial<Times>): Promise<void> {
  await put.all(tx, { contactId, deliveredAt: null, openedAt: null, clickedAt: null, ...times });
}

/** Deletes what is recorded of a contact that is deleted. */
export async function forgetActivity(
  tx: Tx,
  contact: { audienceId: ContactActivityRow['audienceId']; id: ContactId },
): Promise<void> {
  await deleteRows(tx, 'contactActivity', { audienceId: contact.audienceId, contactId: contact.id });
}

const forgetUpTo = statement((db, param: Param<Pick<ContactActivityRow, 'audienceId' | 'contactId'>>) =>
  db
    .deleteFrom('contactActivity')
    .where('audienceId', '=', param('audienceId'))
    .where('contactId', '<=', param('contactId')),
);

/** Deletes what is recorded of the contacts of an audience up to the id `last`. */
export async function forgetActivityUpTo(
  tx: Tx,
  audienceId: ContactActivityRow['audienceId'],
  last: ContactId,
): Promise<void> {
  await forgetUpTo.all(tx, { audienceId, contactId: last });
}
