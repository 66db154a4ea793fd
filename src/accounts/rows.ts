/** Reads and writes rows of an account's database by the values of their columns (db/rows.ts). */
import { rowFunctions } from '../db/rows.ts';
import type { RowsOf } from '../db/table.ts';
import * as tables from './tables.ts';

export type AccountTables = RowsOf<typeof tables>;

export const {
  insertRow,
  insertNumbered,
  insertRowOnce,
  putRow,
  updateRows,
  deleteRows,
  findRow,
  findColumns,
  listRows,
} = rowFunctions(tables);
