/** Stores annotations of folders and of the server. All SQL of the table is here, and nothing else writes it. */

import { sql } from 'kysely';
import { type Param, statement } from '../db/statement.ts';
import { deleteRows, findColumns, putRow } from './rows.ts';
import type { AccountTx } from './store.ts';

/** Stands for the server in place of a folder, whose ids begin with 1. */
export const SERVER = 0;

/** Octets that an entry takes beside its name and its value: the row and its index. An estimate. */
const ROW_OCTETS = 64;

type EntryKey = { folderId: number; entry: string };
export type EntrySize = { entry: string; sizeBytes: number };

const entriesOf = statement((db: AccountTx, param: Param<{ folderId: number }>) => ({
  compile: () =>
    sql<EntrySize>`SELECT entry, length(value) AS "sizeBytes" FROM metadata
      WHERE "folderId" = ${param('folderId')} ORDER BY entry`.compile(db),
}));

/** Returns the entries of a folder or of the server by name, with the sizes of their values. */
export function listEntries(tx: AccountTx, folderId: number): Promise<EntrySize[]> {
  return entriesOf.all(tx, { folderId });
}

/** Returns the value of an entry; undefined when it has none. */
export async function findValue(tx: AccountTx, key: EntryKey): Promise<Uint8Array | undefined> {
  const { folderId, entry } = key;
  return (await findColumns(tx, 'metadata', { select: ['value'], where: { folderId, entry } }))?.value;
}

/** Returns about how many octets all entries of the account take. */
export async function sumMetadataOctets(tx: AccountTx): Promise<number> {
  const { rows } = await sql<{ octets: number }>`
    SELECT ifnull(sum(length(entry) + length(value) + ${ROW_OCTETS}), 0) AS octets FROM metadata`.execute(tx);
  return rows[0]?.octets ?? 0;
}

/** Returns what an entry adds to `sumMetadataOctets`. */
export function octetsOf({ entry, sizeBytes }: EntrySize): number {
  return entry.length + sizeBytes + ROW_OCTETS;
}

/** Sets the value of an entry. */
export async function setValue(tx: AccountTx, row: EntryKey & { value: Uint8Array }): Promise<void> {
  await putRow(tx, 'metadata', row);
}

const removeOne = statement((db: AccountTx, param: Param<EntryKey>) =>
  db
    .deleteFrom('metadata')
    .where('folderId', '=', param('folderId'))
    .where('entry', '=', param('entry'))
    .returning('id'),
);

/** Removes an entry. Returns false when there was none. */
export async function removeEntry(tx: AccountTx, key: EntryKey): Promise<boolean> {
  return (await removeOne.first(tx, key)) !== undefined;
}

/** Removes all entries of a folder. */
export async function removeEntries(tx: AccountTx, folderId: number): Promise<void> {
  await deleteRows(tx, 'metadata', { folderId });
}

/** Gives a folder without entries those of another one. */
export async function copyEntries(tx: AccountTx, { from, to }: { from: number; to: number }): Promise<void> {
  await sql`INSERT INTO metadata ("folderId", entry, value)
    SELECT ${to}, entry, value FROM metadata WHERE "folderId" = ${from}`.execute(tx);
}

/** Removes the entries of folders that do not exist. */
export async function removeLostEntries(tx: AccountTx): Promise<void> {
  await sql`DELETE FROM metadata
    WHERE "folderId" <> ${SERVER} AND "folderId" NOT IN (SELECT id FROM folders)`.execute(tx);
}
