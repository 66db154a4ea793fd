import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite, { type Database } from 'better-sqlite3';
import { openWriting } from '../../src/db/connection.ts';
import { MAIN_SCHEMA } from '../../src/db/main-schema.ts';
import { migrate, migratedSchema, SchemaVersionError } from '../../src/db/migrate.ts';
import { readRows } from '../support/database-rows.ts';
import { writePreviousVersion } from '../support/previous-version.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';

const NOW = Date.UTC(2030, 0, 1);
const first = { id: '0001-a', sql: 'CREATE TABLE a (x INTEGER NOT NULL) STRICT' };
const second = { id: '0002-b', sql: 'ALTER TABLE a ADD COLUMN y TEXT; INSERT INTO a VALUES (1, NULL)' };
const CREATED = 'CREATE TABLE a (x INTEGER NOT NULL, y TEXT) STRICT';

function openEmpty(): Database {
  return openWriting(join(temporaryDirectory(), 'test.db'), 'FULL');
}

function applied(database: Database): unknown[] {
  return database.prepare('SELECT id, appliedAt FROM migrations ORDER BY id').raw().all();
}

test('a new database is created as it is after all migrations, which never run on it', () => {
  const database = openEmpty();
  const schema = { creation: CREATED, oldest: first.id, migrations: [second] };
  for (const nowMs of [NOW, NOW + 1]) migrate(database, nowMs, schema);
  assert.deepEqual(applied(database), [
    ['0001-a', NOW],
    ['0002-b', NOW],
  ]);
  assert.deepEqual(database.prepare('SELECT x, y FROM a').all(), []);
  database.close();
});

test('each migration runs once, in order, and its time is kept', () => {
  const database = openEmpty();
  migrate(database, NOW, migratedSchema([first]));
  for (const nowMs of [NOW + 1, NOW + 2]) migrate(database, nowMs, migratedSchema([first, second]));
  assert.deepEqual(applied(database), [
    ['0001-a', NOW],
    ['0002-b', NOW + 1],
  ]);
  assert.deepEqual(database.prepare('SELECT * FROM a').all(), [{ x: 1, y: null }]);
  database.close();
});

test('a schema of migrations alone is created by them', () => {
  const database = openEmpty();
  migrate(database, NOW, migratedSchema([first, second]));
  assert.deepEqual(applied(database).length, 2);
  assert.deepEqual(database.prepare('SELECT * FROM a').all(), [{ x: 1, y: null }]);
  database.close();
});

/** Number of statements, from the first one, of which each is failed. */
const FIRST_STATEMENTS = 20;
/** Of the later ones, which run in the same transaction, every such one is failed: each failure repeats all statements before it. */
const LATER_STEP = 7;

test('a migration that fails at any statement leaves a database of the previous version untouched', () => {
  const directory = temporaryDirectory();
  writePreviousVersion(directory);
  const file = join(directory, 'postrider.db');
  const untouched = openWriting(file, 'FULL');
  const before = readRows(untouched);
  untouched.pragma('wal_checkpoint(TRUNCATE)');
  untouched.close();
  const bytes = readFileSync(file);
  let failures = 0;
  let outside: unknown[] = [];
  for (let failAt = 1; ; failAt += failAt < FIRST_STATEMENTS ? 1 : LATER_STEP) {
    let statements = 0;
    outside = [];
    const database: Database = new Sqlite(file, {
      verbose: (sql) => {
        if (!database.inTransaction) outside.push(sql);
        if (++statements === failAt) throw new Error('no space');
      },
    });
    try {
      migrate(database, NOW, MAIN_SCHEMA);
      break;
    } catch (error) {
      assert.match(String(error), /no space/);
      failures++;
      assert.equal(database.inTransaction, false);
    } finally {
      database.close();
    }
    assert.ok(readFileSync(file).equals(bytes), `the database changed before statement ${failAt}`);
  }
  assert.ok(failures > 30, `only ${failures} statements`);
  assert.deepEqual(outside, ['BEGIN'], 'every statement runs in one transaction');
  const migrated = openWriting(file, 'FULL');
  const { migrations, tables } = readRows(migrated);
  assert.equal(migrations.length, before.migrations.length + MAIN_SCHEMA.migrations.length);
  const changed = Object.keys(before.tables).filter((name) => tables[name] !== before.tables[name]);
  const statements = MAIN_SCHEMA.migrations.map(({ sql }) => sql).join();
  assert.deepEqual(
    changed.filter((name) => !statements.includes(` ${name}`)),
    [],
    'tables that no migration names are unchanged',
  );
  migrated.close();
});

test('a database of a newer program is refused and left as it is', () => {
  const database = openEmpty();
  migrate(database, NOW, migratedSchema([first, second]));
  assert.throws(
    () => migrate(database, NOW, migratedSchema([first])),
    (error: unknown) => error instanceof SchemaVersionError && error.message.includes('"0002-b"'),
  );
  assert.equal(applied(database).length, 2);
  database.close();
});

test('a database that is older than the kept migrations is refused, with what to do, and left as it is', () => {
  const database = openEmpty();
  migrate(database, NOW, migratedSchema([first]));
  assert.throws(
    () => migrate(database, NOW, { creation: CREATED, oldest: second.id, migrations: [] }),
    (error: unknown) =>
      error instanceof SchemaVersionError &&
      /"0002-b".+Start version e1b0e1d0 once.+empty data directory/.test(error.message),
  );
  assert.deepEqual(applied(database), [['0001-a', NOW]]);
  database.close();
});

test('opening a database of a newer program says so and leaves no lock', async (t) => {
  const directory = temporaryDirectory();
  const db = await openTestDatabase(t, { directory, readers: 0 });
  await db.close();
  const database = openWriting(join(directory, 'postrider.db'), 'FULL');
  database.prepare("INSERT INTO migrations (id, appliedAt) VALUES ('9999-from-the-future', 0)").run();
  for (let round = 0; round < 2; round++) {
    await assert.rejects(openTestDatabase(t, { directory, readers: 0 }), /written by a newer version/);
  }
  database.prepare("DELETE FROM migrations WHERE id = '9999-from-the-future'").run();
  database.close();
  await openTestDatabase(t, { directory, readers: 0 });
});
