/** Stores which deleted mailboxes still have a folder. All SQL of this table is here, and nothing else writes it. */

import { sql } from 'kysely';
import type { SetBack } from '../db/due-times.ts';
import type { MailboxRemovalRow } from '../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { deleteRows, insertRow } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';

type MailboxId = MailboxRemovalRow['mailboxId'];

/** Notes that the folder of a mailbox that is being deleted is to be removed from `dueAt` on, in Unix milliseconds. */
export async function insertRemoval(tx: Tx, removal: MailboxRemovalRow): Promise<void> {
  await insertRow(tx, 'mailboxRemovals', removal);
}

const dueRemovals = statement((db, param: Param<{ now: number; limit: number }>) =>
  db
    .selectFrom('mailboxRemovals')
    .select('mailboxId')
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(constant(param('limit'))),
);

/** Leases deleted mailboxes whose folders are to be removed, the longest due first. They are due again at `until`. */
export const leaseRemovals = defineWrite(
  'mailboxes.leaseRemovals',
  async (tx, { until, ...due }: { now: number; until: number; limit: number }): Promise<MailboxId[]> => {
    const ids = (await dueRemovals.all(tx, due)).map(({ mailboxId }) => mailboxId);
    if (ids.length > 0) {
      await tx.updateTable('mailboxRemovals').set({ dueAt: until }).where('mailboxId', 'in', ids).execute();
    }
    return ids;
  },
);

const nextRemoval = statement((db, _param: Param<object>) =>
  db.selectFrom('mailboxRemovals').select('dueAt').orderBy('dueAt').limit(1),
);

/** Returns the time at which the next removal is due, in Unix milliseconds; undefined when nothing is to be removed. */
export async function findNextRemoval(tx: Tx): Promise<number | undefined> {
  return (await nextRemoval.first(tx, {}))?.dueAt;
}

/** Forgets a deleted mailbox whose folder is gone. */
export const endRemoval = defineWrite(
  'mailboxes.endRemoval',
  async (tx, { id }: { id: MailboxId }): Promise<void> => {
    await deleteRows(tx, 'mailboxRemovals', { mailboxId: id });
  },
);

/** Moves the ends of the leases of removals when the wall clock was set back. */
export const moveDueRemovals = defineWrite(
  'mailboxes.moveDueRemovals',
  async (tx, { now, setBackMs }: SetBack) => {
    await tx
      .updateTable('mailboxRemovals')
      .set({ dueAt: sql`max(${now}, dueAt - ${setBackMs})` })
      .where('dueAt', '>', now)
      .execute();
  },
);
