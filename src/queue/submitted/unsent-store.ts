/**
 * Counts the messages of people that have not reached all of their recipients. All SQL of this table is here, and nothing else writes it.
 * The writes that store and end such a message count it, for its mailbox and for its tenant.
 */
import type { Tx } from '../../db/operation.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { UnsentMailRow } from '../../db/submission-tables.ts';

type Owner = UnsentMailRow['owner'];
type Unsent = Pick<UnsentMailRow, 'messages' | 'bytes'>;

const byOwner = statement((db, param: Param<{ owner: Owner }>) =>
  db.selectFrom('unsentMail').select(['messages', 'bytes']).where('owner', '=', param('owner')),
);

/** Returns the number and the size in bytes of the messages of a mailbox or of a tenant. */
export async function readUnsent(tx: Tx, owner: Owner): Promise<Unsent> {
  return (await byOwner.first(tx, { owner })) ?? { messages: 0, bytes: 0 };
}

const add = statement((db, param: Param<UnsentMailRow>) =>
  db
    .insertInto('unsentMail')
    .values({ owner: param('owner'), messages: param('messages'), bytes: param('bytes') })
    .onConflict((conflict) =>
      conflict.column('owner').doUpdateSet((set) => ({
        messages: set('unsentMail.messages', '+', set.ref('excluded.messages')),
        bytes: set('unsentMail.bytes', '+', set.ref('excluded.bytes')),
      })),
    ),
);

const removeEmpty = statement((db, param: Param<{ owner: Owner }>) =>
  db.deleteFrom('unsentMail').where('owner', '=', param('owner')).where('messages', '<=', 0),
);

type Counted = { owners: readonly Owner[]; sizeBytes: number };

/** Counts a message of this size for each of its owners, as part of the write that stores it. */
export async function addUnsent(tx: Tx, { owners, sizeBytes }: Counted): Promise<void> {
  for (const owner of owners) await add.all(tx, { owner, messages: 1, bytes: sizeBytes });
}

/** Counts a message no longer, as part of the write that deletes it. */
export async function removeUnsent(tx: Tx, { owners, sizeBytes }: Counted): Promise<void> {
  for (const owner of owners) {
    await add.all(tx, { owner, messages: -1, bytes: -sizeBytes });
    await removeEmpty.all(tx, { owner });
  }
}
