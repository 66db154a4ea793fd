/** Stores the records that were written by dynamic updates. All SQL of this table is here, and nothing else writes it. */
import { defineRead, defineWrite, type Tx } from '../db/operation.ts';
import type { WrittenRecordRow } from '../db/own-tables.ts';
import { insertRow } from '../db/rows.ts';

type WrittenSet = Pick<WrittenRecordRow, 'name' | 'type'> & { values: readonly string[] };

/** Stores which values a name has by our updates; none forgets the name and the type. */
export const putWritten = defineWrite(
  'dnsUpdates.putWritten',
  async (tx, { name, type, values }: WrittenSet): Promise<void> => {
    await tx.deleteFrom('writtenRecords').where('name', '=', name).where('type', '=', type).execute();
    for (const value of values) await insertRow(tx, 'writtenRecords', { name, type, value });
  },
);

/** Returns all records that were written. */
export const listWritten = defineRead(
  'dnsUpdates.listWritten',
  (tx: Tx, _input: object): Promise<WrittenRecordRow[]> =>
    tx.selectFrom('writtenRecords').selectAll().execute(),
);
