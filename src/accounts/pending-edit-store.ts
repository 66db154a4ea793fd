/**
 * Stores edits of flags that are committed before the rows of their messages are written. All SQL of the table is here. Whatever reads
 * flags or modseqs from the rows of a folder calls `applyPendingEdits` before, in the same write.
 */

import { type Param, statement } from '../db/statement.ts';
import type { FlagEdit } from './changes.ts';
import { createMessagePause } from './message-pause.ts';
import { editFlags, findLastUid } from './message-store.ts';
import { deleteRows, insertRow } from './rows.ts';
import type { AccountTx } from './store.ts';
import type { PendingEditRow } from './tables.ts';

/** Number of messages to which an edit is applied at once: about 5 ms. */
const MESSAGES_PER_SLICE = 5_000;

type Folder = Pick<PendingEditRow, 'folderId'>;

/** Adds the edits of one change, whose ranges do not overlap. */
export async function insertPendingEdits(
  tx: AccountTx,
  change: Pick<PendingEditRow, 'folderId' | 'modseq'>,
  edits: readonly FlagEdit[],
): Promise<void> {
  for (const edit of edits) await insertRow(tx, 'pendingEdits', { ...edit, ...change });
}

const countOf = statement((db: AccountTx, param: Param<Folder>) =>
  db
    .selectFrom('pendingEdits')
    .select(({ fn }) => fn.countAll<number>().as('edits'))
    .where('folderId', '=', param('folderId')),
);

/** Returns the number of edits that the messages of a folder do not have yet. */
export async function countPendingEdits(tx: AccountTx, folderId: number): Promise<number> {
  return (await countOf.first(tx, { folderId }))?.edits ?? 0;
}

/** Returns the ids of folders with such edits. */
export async function listFoldersWithPendingEdits(tx: AccountTx): Promise<number[]> {
  const rows = await tx.selectFrom('pendingEdits').select('folderId').distinct().execute();
  return rows.map(({ folderId }) => folderId);
}

const oldest = statement((db: AccountTx, param: Param<Folder>) =>
  db
    .selectFrom('pendingEdits')
    .selectAll()
    .where('folderId', '=', param('folderId'))
    .orderBy('modseq')
    .orderBy('uidFrom')
    .limit(1),
);

/** Applies the oldest edit to the first `count` of its messages. Returns false when there was none. */
export async function applyNextEdit(
  tx: AccountTx,
  folderId: number,
  count = MESSAGES_PER_SLICE,
): Promise<boolean> {
  const edit = await oldest.first(tx, { folderId });
  if (!edit) return false;
  const { modseq, uidFrom } = edit;
  const uidTo = (await findLastUid(tx, { ...edit, count })) ?? edit.uidTo;
  await editFlags(tx, { folderId, modseq }, { ...edit, uidTo });
  await deleteRows(tx, 'pendingEdits', { folderId, modseq, uidFrom });
  if (uidTo < edit.uidTo) await insertRow(tx, 'pendingEdits', { ...edit, uidFrom: uidTo + 1 });
  return true;
}

/** Applies all edits, so that the rows of the messages have the flags that clients know. Other accounts go on meanwhile. */
export async function applyPendingEdits(tx: AccountTx, folderId: number): Promise<void> {
  const pause = createMessagePause();
  while (await applyNextEdit(tx, folderId)) await pause(MESSAGES_PER_SLICE);
}

/** Forgets the edits of a folder that is deleted with its messages. */
export async function removePendingEdits(tx: AccountTx, folderId: number): Promise<void> {
  await deleteRows(tx, 'pendingEdits', { folderId });
}
