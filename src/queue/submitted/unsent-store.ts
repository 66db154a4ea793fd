/**
 * Counts the messages of people that have not reached all of their recipients. All SQL of this table is here, and nothing else writes it.
 * The writes that store and end such a message count it, for its mailbox and for its tenant.
 */

import type { Tx } from '../../db/operation.ts';
import { addToRow, findColumns } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { UnsentMailRow } from '../../db/submission-tables.ts';

type Owner = UnsentMailRow['owner'];
type Unsent = Pick<UnsentMailRow, 'messages' | 'bytes'>;

/** Returns the number and the size in bytes of the messages of a mailbox or of a tenant. */
export async function readUnsent(tx: Tx, owner: Owner): Promise<Unsent> {
  return (
    (await findColumns(tx, 'unsentMail', { select: ['messages', 'bytes'], where: { owner } })) ?? {
      messages: 0,
      bytes: 0,
    }
  );
}

const removeEmpty = statement((db, param: Param<{ owner: Owner }>) =>
  db.deleteFrom('unsentMail').where('owner', '=', param('owner')).where('messages', '<=', 0),
);

type Counted = { owners: readonly Owner[]; sizeBytes: number };

/** Counts a message of this size for each of its owners, as part of the write that stores it. */
export async function addUnsent(tx: Tx, { owners, sizeBytes }: Counted): Promise<void> {
  for (const owner of owners) await addToRow(tx, 'unsentMail', { owner, messages: 1, bytes: sizeBytes });
}

/** Counts a message no longer, as part of the write that deletes it. */
export async function removeUnsent(tx: Tx, { owners, sizeBytes }: Counted): Promise<void> {
  for (const owner of owners) {
    await addToRow(tx, 'unsentMail', { owner, messages: -1, bytes: -sizeBytes });
    await removeEmpty.all(tx, { owner });
  }
}
