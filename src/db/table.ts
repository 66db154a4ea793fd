/**
 * Describes the columns of tables. A table is described once, as a value: the type of its rows, the statements that store them
 * (db/rows.ts) and the check of the real database follow from it. Nothing here depends on the dialect of SQL.
 */
import type { Id } from '../system/ids.ts';

/** `Value` is what a row holds in the column. It exists only as a type. */
type Column<Value> = {
  readonly type: 'text' | 'integer' | 'real' | 'bytes';
  readonly isNullable: boolean;
  /** True when the column is part of the key by which `putRow` and `addToRow` find the row (db/rows.ts). */
  readonly isKey: boolean;
  /** True when the database numbers the rows by the column. New rows do not have it. */
  readonly isNumbered?: true;
  readonly value?: Value;
};

type NumberedColumn = Column<number> & { readonly isNumbered: true };

export type Columns = Readonly<Record<string, Column<unknown>>>;

/** The row of a table. */
export type Row<Table extends Columns> = {
  [Name in keyof Table]: Table[Name] extends Column<infer Value> ? Value : never;
};

/** Describes a table. */
export function table<Table extends Columns>(columns: Table): Table {
  return columns;
}

/** The rows of all tables of a database, by the name of the table. */
export type RowsOf<Tables extends Readonly<Record<string, Columns>>> = {
  [Name in keyof Tables]: Row<Tables[Name]>;
};

type MayBeAbsent<Of extends Column<unknown>> = Of extends NumberedColumn
  ? true
  : Of extends Column<infer Value>
    ? null extends Value
      ? true
      : false
    : never;

/** A row to insert: columns that may be empty can be left out. */
export type NewRow<Table extends Columns> = {
  [Name in keyof Table as MayBeAbsent<Table[Name]> extends true ? never : Name]: Row<Table>[Name];
} & {
  [Name in keyof Table as MayBeAbsent<Table[Name]> extends true ? Name : never]?: Row<Table>[Name];
};

const ORDINARY = { isNullable: false, isKey: false } as const;

/** Describes a column of text. */
export function text<Value extends string = string>(): Column<Value> {
  return { type: 'text', ...ORDINARY };
}

/** Describes a column of whole numbers. */
export function integer<Value extends number = number>(): Column<Value> {
  return { type: 'integer', ...ORDINARY };
}

/** Describes the key of a table whose rows the database numbers. */
export function rowNumber(): NumberedColumn {
  return { type: 'integer', ...ORDINARY, isNumbered: true };
}

/** Describes a column of numbers. */
export function real(): Column<number> {
  return { type: 'real', ...ORDINARY };
}

/** Describes a column of bytes. */
export function bytes(): Column<Uint8Array> {
  return { type: 'bytes', ...ORDINARY };
}

/** Describes a column that holds 1 for true and 0 for false. */
export function flag(): Column<0 | 1> {
  return integer<0 | 1>();
}

/** Describes a column of ids with one of these prefixes. */
export function id<Prefix extends string>(..._prefixes: Prefix[]): Column<Id<Prefix>> {
  return text<Id<Prefix>>();
}

/** Describes a column that may be empty. */
export function nullable<Value>(column: Column<Value>): Column<Value | null> {
  return { ...column, isNullable: true } as Column<Value | null>;
}

/** Describes a column that is part of the key of its table. */
export function key<Value>(column: Column<Value>): Column<Value> {
  return { ...column, isKey: true };
}
