import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { ACCOUNT_MIGRATIONS, ACCOUNT_SCHEMA } from '../../src/accounts/migrations.ts';
import * as tables from '../../src/accounts/tables.ts';
import { migrate, migratedSchema } from '../../src/db/migrate.ts';
import type { Described } from '../../src/db/table.ts';

type Info = { name: string; type: string; notnull: number; pk: number };
const TYPES = { text: 'TEXT', integer: 'INTEGER', real: 'REAL', bytes: 'BLOB' };

test('the dictionary of accounts names every table, every column and its keys, and every table is STRICT', () => {
  const database = new Sqlite(':memory:');
  migrate(database, 0, ACCOUNT_SCHEMA);
  const described: Described = { ...tables };
  const names = database.prepare<[], string>(
    "SELECT name FROM pragma_table_list WHERE strict = 1 AND name <> 'migrations' ORDER BY name",
  );
  assert.deepEqual(names.pluck().all(), Object.keys(described).sort());
  const info = database.prepare<[string], Info>('SELECT * FROM pragma_table_info(?)');
  const keys = database.prepare<[string], string>(
    'SELECT (SELECT group_concat(name) FROM pragma_index_info(list.name)) FROM pragma_index_list(?) AS list WHERE "unique"',
  );
  for (const [name, { columns }] of Object.entries(described)) {
    const real = info
      .all(name)
      .map(({ name, type, notnull, pk }) => [name, { type, isNullable: !notnull && !pk }] as const);
    const all = Object.entries(columns).map(
      ([name, { type, isNullable = false }]) => [name, { type: TYPES[type], isNullable }] as const,
    );
    assert.deepEqual(Object.fromEntries(all), Object.fromEntries(real), name);
    const key = Object.keys(columns).filter((column) => columns[column]?.isKey);
    if (key.length > 0) assert.ok(keys.pluck().all(name).includes(key.join()), name);
  }
});

test('an account of the first version has the same schema after its migration, at the same places of the file', () => {
  const schemaOf = (database: Sqlite.Database) =>
    database.prepare("SELECT name, rootpage, sql FROM sqlite_schema WHERE type IN ('table', 'index')").all();
  const open = () => {
    const database = new Sqlite(':memory:');
    database.pragma('auto_vacuum = INCREMENTAL');
    return database;
  };
  const [fresh, old] = [open(), open()];
  migrate(fresh, 0, ACCOUNT_SCHEMA);
  migrate(old, 0, migratedSchema([ACCOUNT_MIGRATIONS[0]]));
  const insert = old.prepare(`INSERT INTO messages VALUES (1, ?, 'M1', 1, ?, 1, 4, 0, 0, 0, 0, 1, x'00')`);
  for (let uid = 1; uid <= 1_000; uid++) insert.run(uid, uid);
  const read = () => old.prepare('SELECT * FROM messages').all();
  const before = read();
  migrate(old, 0, ACCOUNT_SCHEMA);
  assert.deepEqual(read(), before);
  // The repair of damaged accounts relies on it (salvage-store.ts).
  assert.deepEqual(schemaOf(old), schemaOf(fresh));
});
