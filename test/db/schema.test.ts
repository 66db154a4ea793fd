import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { migrate } from '../../src/db/migrate.ts';

const database = new Sqlite(':memory:');
migrate(database, 0);

type Table = { name: string; strict: number };
const tables = (database.prepare('PRAGMA table_list').all() as (Table & { schema: string })[])
  .filter(({ schema, name }) => schema === 'main' && !name.startsWith('sqlite_'))
  .map(({ name, strict }) => ({ name, strict }));

/** The row types of the data dictionary by table, each as its column names. */
function dictionary(): Map<string, string[]> {
  const folder = new URL('../../src/db/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('tables.ts'));
  const source = files.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('');
  const code = source.replace(/\/\*\*.*?\*\//gs, '');
  const names = (body: string) => body.split(';').flatMap((field) => /^\s*(\w+):/.exec(field)?.[1] ?? []);
  const rows = new Map(
    [...code.matchAll(/\btype (\w+Row) = \{(.*?)\};\n/gs)].map(([, name, body = '']) => [name, names(body)]),
  );
  const tables = [...code.matchAll(/export type \w*Tables = (?:\w+ & )?\{(.*?)\}/gs)]
    .map(([, fields]) => fields)
    .join('');
  return new Map(
    [...tables.matchAll(/(\w+): (\w+);/g)].map(([, table = '', row]) => [table, rows.get(row) ?? []]),
  );
}

test('the dictionary names every table and every column, and nothing else', () => {
  const written = [...dictionary()].map(([name, columns]) => ({ name, columns: columns.toSorted() }));
  const real = tables.map(({ name }) => ({
    name,
    columns: (database.prepare(`SELECT name FROM pragma_table_info(?)`).all(name) as { name: string }[])
      .map((column) => column.name)
      .sort(),
  }));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  assert.deepEqual(written.toSorted(byName), real.toSorted(byName));
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
