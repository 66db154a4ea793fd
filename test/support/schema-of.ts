/** Reads the schema of a real database, so that two can be compared. */
import type { Database } from 'better-sqlite3';

/**
 * Returns what a database is made of, by name, in a form that two schemas share when they mean the same: the columns of each table
 * in the order of their names, its keys, and its indexes and triggers as SQL without quotes and repeated white space.
 */
export function schemaOf(database: Database): Record<string, unknown> {
  const tables = database
    .prepare<[], { name: string }>(
      `SELECT name, wr AS isClustered, strict AS isStrict FROM pragma_table_list
       WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .all();
  const columns = database.prepare(
    'SELECT name, type, "notnull" AS isRequired, dflt_value AS initial, pk FROM pragma_table_xinfo(?) ORDER BY name',
  );
  const parents = database.prepare(
    'SELECT "from", "table", coalesce("to", (SELECT name FROM pragma_table_info("table") WHERE pk = 1)) AS "to", on_delete FROM pragma_foreign_key_list(?) ORDER BY "from", "table"',
  );
  const keys = database
    .prepare<[string], string>(
      `SELECT origin || ': ' || (SELECT group_concat(name) FROM pragma_index_info(list.name))
       FROM pragma_index_list(?) AS list WHERE origin <> 'c' ORDER BY 1`,
    )
    .pluck();
  const others = database
    .prepare<[], [string, string]>(
      `SELECT name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY name`,
    )
    .raw();
  return Object.fromEntries([
    ...tables.map((table) => [
      table.name,
      {
        ...table,
        columns: columns.all(table.name),
        parents: parents.all(table.name),
        keys: keys.all(table.name),
      },
    ]),
    ...others.all().map(([name, sql]) => [name, sql.replace(/\s+/g, ' ').replaceAll('"', '')]),
  ]);
}
