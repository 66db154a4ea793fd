/**
 * Stores the tombstones of messages that were removed, which tell clients what they have missed. All SQL that writes this table is here.
 */

import { type Param, statement } from '../db/statement.ts';
import { deleteRows, insertRow } from './rows.ts';
import type { AccountTx } from './store.ts';
import type { ExpungedRow } from './tables.ts';

/** Remembers, as ranges, that UIDs were removed by a change. `uids` are sorted. */
export async function insertExpunged(
  tx: AccountTx,
  { folderId, modseq, uids }: { folderId: number; modseq: number; uids: readonly number[] },
): Promise<void> {
  for (const [uidFrom, uidTo] of rangesOf(uids))
    await insertRow(tx, 'expunged', { folderId, modseq, uidFrom, uidTo });
}

function rangesOf(uids: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const uid of uids) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === uid) last[1] = uid;
    else ranges.push([uid, uid]);
  }
  return ranges;
}

const expungedSince = statement((db: AccountTx, param: Param<Pick<ExpungedRow, 'folderId' | 'modseq'>>) =>
  db
    .selectFrom('expunged')
    .select(['uidFrom', 'uidTo'])
    .where('folderId', '=', param('folderId'))
    .where('modseq', '>', param('modseq'))
    .orderBy('uidFrom'),
);

/** Returns the ranges of UIDs that were removed from a folder after a modseq. */
export function listExpunged(
  tx: AccountTx,
  since: Pick<ExpungedRow, 'folderId' | 'modseq'>,
): Promise<Pick<ExpungedRow, 'uidFrom' | 'uidTo'>[]> {
  return expungedSince.all(tx, since);
}

/** Forgets the oldest tombstones of a folder that has more than `kept`. Returns the modseq up to which some are missing. */
export async function forgetExpunged(
  tx: AccountTx,
  folderId: number,
  kept: number,
): Promise<number | undefined> {
  const oldest = await tx
    .selectFrom('expunged')
    .select('modseq')
    .where('folderId', '=', folderId)
    .orderBy('modseq', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst();
  if (!oldest) return undefined;
  const { modseq } = oldest;
  await tx.deleteFrom('expunged').where('folderId', '=', folderId).where('modseq', '<=', modseq).execute();
  return modseq;
}

/** Forgets all tombstones of a deleted folder. */
export async function deleteExpunged(tx: AccountTx, folderId: number): Promise<void> {
  await deleteRows(tx, 'expunged', { folderId });
}
