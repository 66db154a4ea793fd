/** Compares the description of tables (db/table.ts) with a real database. */
import type Sqlite from 'better-sqlite3';
import type { Columns } from '../../src/db/table.ts';

type Tables = Record<string, Record<string, string>>;

const TYPES = { text: 'TEXT', integer: 'INTEGER', real: 'REAL', bytes: 'BLOB' };

/** Returns the columns of tables as they are described. */
export function describedTables(tables: Readonly<Record<string, Columns>>): Tables {
  return mapValues(tables, (columns) =>
    mapValues(columns, ({ type, isNullable }) => TYPES[type] + (isNullable ? '' : ' NOT NULL')),
  );
}

type Info = { name: string; type: string; notnull: number; pk: number };

/** Returns the columns of all tables of a database. */
export function realTables(database: Sqlite.Database): Tables {
  const names = database
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  const info = database.prepare<[string], Info>('SELECT * FROM pragma_table_info(?)');
  return Object.fromEntries(
    names.map((name) => [
      name,
      Object.fromEntries(
        info
          .all(name)
          .map((column) => [column.name, column.type + (column.notnull || column.pk ? ' NOT NULL' : '')]),
      ),
    ]),
  );
}

/** Returns the described keys that no unique index of the database has. */
export function wrongKeys(tables: Readonly<Record<string, Columns>>, database: Sqlite.Database): string[] {
  const indexes = database.prepare<[string], string>(
    'SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial',
  );
  const columnsOf = database.prepare<[string], string>('SELECT name FROM pragma_index_info(?)');
  return Object.entries(tables).flatMap(([table, columns]) => {
    const keys = Object.keys(columns).filter((name) => columns[name]?.isKey);
    const unique = indexes
      .pluck()
      .all(table)
      .map((index) => columnsOf.pluck().all(index).toSorted().join());
    return keys.length === 0 || unique.includes(keys.toSorted().join()) ? [] : [table];
  });
}

function mapValues<Value, Result>(
  from: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, map(value)]));
}
