import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { migrate } from '../../src/db/migrate.ts';
import { key } from '../../src/db/table.ts';
import { TABLES } from '../../src/db/tables.ts';
import { describedTables, realTables, wrongKeys } from '../support/described-tables.ts';

const database = new Sqlite(':memory:');
migrate(database, 0);

type Table = { name: string; strict: number };
const tables = (database.prepare('PRAGMA table_list').all() as (Table & { schema: string })[])
  .filter(({ schema, name }) => schema === 'main' && !name.startsWith('sqlite_'))
  .map(({ name, strict }) => ({ name, strict }));

test('the dictionary describes every table, every column and its type, and nothing else', () => {
  assert.deepEqual(describedTables(TABLES), realTables(database));
  assert.deepEqual(wrongKeys(TABLES, database), []);
  const { usage } = TABLES;
  assert.deepEqual(wrongKeys({ usage: { ...usage, emails: key(usage.emails) } }, database), ['usage']);
});

test('every table is STRICT: a value of another type is refused, not kept', () => {
  for (const { name, strict } of tables) assert.equal(strict, 1, name);
  assert.throws(
    () => database.prepare('INSERT INTO starts VALUES (?)').run('yesterday'),
    /cannot store TEXT value in INTEGER column/,
  );
});

test('the plans free and unlimited exist from the start', () => {
  assert.deepEqual(
    database.prepare('SELECT name, monthlyEmails, requestsPerSecond FROM plans ORDER BY name').all(),
    [
      { name: 'free', monthlyEmails: 3_000, requestsPerSecond: 5 },
      { name: 'unlimited', monthlyEmails: null, requestsPerSecond: null },
    ],
  );
});
