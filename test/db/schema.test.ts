import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { createTables } from '../../src/db/create-tables.ts';
import { MAIN_SCHEMA } from '../../src/db/main-schema.ts';
import { migrate } from '../../src/db/migrate.ts';
import {
  clusteredTable,
  count,
  key,
  nullable,
  references,
  rowNumber,
  table,
  text,
} from '../../src/db/table.ts';
import { INSTALLATION_TENANT } from '../../src/tenants/installation.ts';
import { openPreviousDatabase } from '../support/previous-version.ts';
import { schemaOf } from '../support/schema-of.ts';

const database = new Sqlite(':memory:');
migrate(database, 0, MAIN_SCHEMA);

test('a new database has the schema of one that an earlier version made and that was migrated', () => {
  const previous = openPreviousDatabase();
  const before = schemaOf(previous);
  migrate(previous, 0, MAIN_SCHEMA);
  const [made, migrated] = [schemaOf(database), schemaOf(previous)];
  assert.deepEqual(made, migrated);
  assert.notDeepEqual(before, migrated);
  const ids = (from: Sqlite.Database) =>
    from.prepare<[], string>("SELECT id FROM migrations WHERE id > '0065' ORDER BY id").pluck().all();
  assert.deepEqual(ids(database), ids(previous));
  previous.close();
});

test('what is described is what a table gets', () => {
  const parents = clusteredTable({ name: key(text()) });
  const children = table({
    id: rowNumber(),
    parent: references('parents', text()),
    note: nullable(text()),
    uses: count(),
  }).indexedBy({ childrenInUse: 'UNIQUE (parent, id) WHERE uses > 0' });
  const made = new Sqlite(':memory:');
  made.exec(createTables({ parents, children }));
  assert.deepEqual(made.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').pluck().all(), [
    'CREATE TABLE "parents" (\n  "name" TEXT PRIMARY KEY\n) STRICT, WITHOUT ROWID',
    `CREATE TABLE "children" (
  "id" INTEGER PRIMARY KEY,
  "parent" TEXT NOT NULL REFERENCES "parents",
  "note" TEXT,
  "uses" INTEGER NOT NULL DEFAULT 0
) STRICT`,
    'CREATE UNIQUE INDEX "childrenInUse" ON "children" (parent, id) WHERE uses > 0',
  ]);
  made.close();
});

test('a value of another type is refused, not stored', () => {
  assert.throws(
    () => database.prepare('INSERT INTO starts VALUES (?)').run('yesterday'),
    /cannot store TEXT value in INTEGER column/,
  );
});

test('the plans free and unlimited and the tenant of the installation exist from the start', () => {
  assert.deepEqual(
    database.prepare('SELECT name, monthlyEmails, requestsPerSecond FROM plans ORDER BY name').all(),
    [
      { name: 'free', monthlyEmails: 3_000, requestsPerSecond: 5 },
      { name: 'unlimited', monthlyEmails: null, requestsPerSecond: null },
    ],
  );
  assert.deepEqual(database.prepare('SELECT id, name, plan FROM tenants').raw().all(), [
    [INSTALLATION_TENANT, 'installation', 'unlimited'],
  ]);
});
