/**
 * Describes tables. A table is described once, as a value: the type of its rows, the statements that store them (db/rows.ts) and
 * the definition of a new database (db/create-tables.ts) follow from it. Nothing here depends on the dialect of SQL.
 */
import type { Id } from '../system/ids.ts';

/** `Value` is what a row holds in the column. It exists only as a type. */
type Column<Value> = {
  readonly type: 'text' | 'integer' | 'real' | 'bytes';
  readonly isNullable?: true;
  /** True when the column is part of the key by which `putRow` and `addToRow` find the row (db/rows.ts). */
  readonly isKey?: true;
  /** True when the database numbers the rows by the column. New rows do not have it. */
  readonly isNumbered?: true;
  /** True when no two rows have the same value. */
  readonly isUnique?: true;
  /** Value in rows that do not name another, such as those from before the column. */
  readonly initially?: string | number;
  /** The table whose key the column holds. `deletes` is true when a row is deleted with the one that it names. */
  readonly parent?: { readonly table: string; readonly deletes: boolean };
  readonly value?: Value;
};

type NumberedColumn = Column<number> & { readonly isNumbered: true };

export type Columns = Readonly<Record<string, Column<unknown>>>;

export type Table<Of extends Columns = Columns> = {
  readonly columns: Of;
  /** True when the rows stand in the index of their key, which suits small rows that are found by it. */
  readonly isClustered: boolean;
  /** Each index with its columns in parentheses, after `UNIQUE` if it is, and the condition of a partial one. */
  readonly indexes: Readonly<Record<string, string>>;
};

/** All tables of a database, by their names. */
export type Described = Readonly<Record<string, Table>>;

/** The row of a table. */
export type Row<Of extends Table> = {
  [Name in keyof Of['columns']]: Of['columns'][Name] extends Column<infer Value> ? Value : never;
};

/** Describes a table. */
export function table<Of extends Columns>(columns: Of): IndexableTable<Of> {
  return indexable({ columns, isClustered: false, indexes: {} });
}

/** Describes a table whose rows stand in the index of their key. */
export function clusteredTable<Of extends Columns>(columns: Of): IndexableTable<Of> {
  return indexable({ columns, isClustered: true, indexes: {} });
}

type IndexableTable<Of extends Columns> = Table<Of> & {
  indexedBy(indexes: Table['indexes']): Table<Of>;
};

function indexable<Of extends Columns>(description: Table<Of>): IndexableTable<Of> {
  return { ...description, indexedBy: (indexes) => ({ ...description, indexes }) };
}

/** The rows of all tables of a database, by the name of the table. */
export type RowsOf<Of extends Described> = {
  [Name in keyof Of]: Row<Of[Name]>;
};

type MayBeAbsent<Of extends Column<unknown>> = Of extends NumberedColumn
  ? true
  : Of extends Column<infer Value>
    ? null extends Value
      ? true
      : false
    : never;

/** A row to insert: columns that may be empty can be left out. */
export type NewRow<Of extends Table> = {
  [Name in keyof Row<Of> as MayBeAbsent<Of['columns'][Name & string]> extends true
    ? never
    : Name]: Row<Of>[Name];
} & {
  [Name in keyof Row<Of> as MayBeAbsent<Of['columns'][Name & string]> extends true
    ? Name
    : never]?: Row<Of>[Name];
};

/** Describes a column of text. */
export function text<Value extends string = string>(): Column<Value> {
  return { type: 'text' };
}

/** Describes a column of whole numbers. */
export function integer<Value extends number = number>(): Column<Value> {
  return { type: 'integer' };
}

/** Describes the key of a table whose rows the database numbers. */
export function rowNumber(): NumberedColumn {
  return { type: 'integer', isNumbered: true };
}

/** Describes a column of numbers. */
export function real(): Column<number> {
  return { type: 'real' };
}

/** Describes a column of bytes. */
export function bytes(): Column<Uint8Array> {
  return { type: 'bytes' };
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

/** Describes a column in which no two rows have the same value. */
export function unique<Value>(column: Column<Value>): Column<Value> {
  return { ...column, isUnique: true };
}

/** Describes a column that has this value in rows that do not name another. */
export function initially<Value>(value: string | number, column: Column<Value>): Column<Value> {
  return { ...column, initially: value };
}

/** Describes a count that begins at 0. */
export function count(): Column<number> {
  return initially(0, integer());
}

/** Describes a column with the key of a row of another table, which cannot be deleted before this row. */
export function references<Value>(parent: string, column: Column<Value>): Column<Value> {
  return { ...column, parent: { table: parent, deletes: false } };
}

/** Describes a column with the key of a row of another table, with which this row is deleted. */
export function belongsTo<Value>(parent: string, column: Column<Value>): Column<Value> {
  return { ...column, parent: { table: parent, deletes: true } };
}
