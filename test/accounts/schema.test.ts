import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { ACCOUNT_MIGRATIONS } from '../../src/accounts/migrations.ts';
import * as tables from '../../src/accounts/tables.ts';
import { migrate } from '../../src/db/migrate.ts';
import { describedTables, realTables, wrongKeys } from '../support/described-tables.ts';

test('the dictionary of accounts names every table and every column, and every table is STRICT', () => {
  const database = new Sqlite(':memory:');
  migrate(database, 0, ACCOUNT_MIGRATIONS);
  const { migrations: _, ...real } = realTables(database);
  assert.deepEqual(describedTables(tables), real);
  assert.deepEqual(wrongKeys(tables, database), []);
  const strict = database
    .prepare<[], string>('SELECT name FROM pragma_table_list WHERE strict = 1')
    .pluck()
    .all();
  for (const name of Object.keys(real)) assert.ok(strict.includes(name), name);
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
  migrate(fresh, 0, ACCOUNT_MIGRATIONS);
  migrate(old, 0, ACCOUNT_MIGRATIONS.slice(0, 1));
  const insert = old.prepare(`INSERT INTO messages VALUES (1, ?, 'M1', 1, ?, 1, 4, 0, 0, 0, 0, 1, x'00')`);
  for (let uid = 1; uid <= 1_000; uid++) insert.run(uid, uid);
  const read = () => old.prepare('SELECT * FROM messages').all();
  const before = read();
  migrate(old, 0, ACCOUNT_MIGRATIONS);
  assert.deepEqual(read(), before);
  // The repair of damaged accounts relies on it (salvage-store.ts).
  assert.deepEqual(schemaOf(old), schemaOf(fresh));
});
