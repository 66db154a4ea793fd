import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kyselyOn } from '../../src/db/dialect.ts';
import { type Param, statement } from '../../src/db/statement.ts';
import type { PlanRow } from '../../src/db/tenant-tables.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

function open(prepared: string[] = []) {
  const { database } = openMemoryDatabase();
  database.exec('DELETE FROM tenants; DELETE FROM plans');
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    prepared.push(sql);
    return prepare(sql);
  }) as typeof database.prepare;
  return kyselyOn(database);
}

const insert = statement((db, param: Param<PlanRow>) =>
  db.insertInto('plans').values({
    name: param('name'),
    monthlyEmails: param('monthlyEmails'),
    requestsPerSecond: param('requestsPerSecond'),
    storedMegabytes: param('storedMegabytes'),
    weight: param('weight'),
    createdAt: param('createdAt'),
  }),
);
const all = statement((db, _param: Param<object>) => db.selectFrom('plans').selectAll().orderBy('name'));

const a: PlanRow = {
  ...{
    name: 'a',
    monthlyEmails: 10,
    requestsPerSecond: null,
    storedMegabytes: null,
    createdAt: 5,
    weight: 1,
  },
};
const b: PlanRow = {
  ...{ name: 'b', monthlyEmails: null, requestsPerSecond: 3, storedMegabytes: 4, createdAt: 6, weight: 2 },
};

test('values are written to the columns of their names, also null', async () => {
  const db = open();
  await insert.all(db, a);
  await insert.all(db, b);
  assert.deepEqual(await all.all(db, {}), [a, b]);
});

test('the order in which parameters are given means nothing', async () => {
  const db = open();
  await insert.all(db, {
    ...{
      weight: 1,
      createdAt: 5,
      storedMegabytes: null,
      requestsPerSecond: null,
      monthlyEmails: 10,
      name: 'a',
    },
  });
  assert.deepEqual(await all.all(db, {}), [a]);
});

test('a name used twice gives its value at both places, next to fixed values', async () => {
  const db = open();
  await insert.all(db, a);
  await insert.all(db, b);
  const twice = statement((kysely, param: Param<{ n: number; name: string }>) =>
    kysely
      .selectFrom('plans')
      .select('name')
      .where((where) =>
        where.or([where('monthlyEmails', '=', param('n')), where('requestsPerSecond', '=', param('n'))]),
      )
      .where('createdAt', '<', 100)
      .where('name', '=', param('name'))
      .limit(10),
  );
  assert.deepEqual(await twice.all(db, { n: 10, name: 'a' }), [{ name: 'a' }]);
  assert.deepEqual(await twice.all(db, { n: 3, name: 'b' }), [{ name: 'b' }]);
  assert.deepEqual(await twice.all(db, { n: 3, name: 'a' }), []);
});

test('placeholders work in set, limit, a list, and a conflict clause', async () => {
  const db = open();
  await insert.all(db, a);
  const update = statement((kysely, param: Param<{ limit: number | null; name: string }>) =>
    kysely
      .updateTable('plans')
      .set({ monthlyEmails: param('limit') })
      .where('name', '=', param('name')),
  );
  await update.all(db, { limit: null, name: 'a' });
  assert.deepEqual(await all.all(db, {}), [{ ...a, monthlyEmails: null }]);
  const upsert = statement((kysely, param: Param<PlanRow>) =>
    kysely
      .insertInto('plans')
      .values({
        name: param('name'),
        monthlyEmails: param('monthlyEmails'),
        requestsPerSecond: null,
        createdAt: param('createdAt'),
        weight: 1,
      })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({ monthlyEmails: param('monthlyEmails') }),
      )
      .returning('monthlyEmails'),
  );
  assert.deepEqual(await upsert.first(db, { ...a, monthlyEmails: 77 }), { monthlyEmails: 77 });
  const among = statement((kysely, param: Param<{ one: string; other: string; limit: number }>) =>
    kysely
      .selectFrom('plans')
      .select('monthlyEmails')
      .where('name', 'in', [param('one'), param('other')])
      .limit(param('limit')),
  );
  assert.deepEqual(await among.all(db, { one: 'z', other: 'a', limit: 1 }), [{ monthlyEmails: 77 }]);
  assert.deepEqual(await among.all(db, { one: 'z', other: 'a', limit: 0 }), []);
});

test('a value is data, whatever it looks like', async () => {
  const db = open();
  const name = "x'); DROP TABLE plans; --";
  await insert.all(db, { ...a, name });
  assert.deepEqual(await all.first(db, {}), { ...a, name });
});

test('first answers one row or undefined', async () => {
  const db = open();
  assert.equal(await all.first(db, {}), undefined);
  await insert.all(db, a);
  await insert.all(db, b);
  assert.deepEqual(await all.first(db, {}), a);
});

test('a query is built once, and prepared once on each connection, however often it is run', async () => {
  let built = 0;
  const prepared: string[] = [];
  const counted = statement((kysely, param: Param<{ name: string }>) => {
    built++;
    return kysely.selectFrom('plans').select('name').where('name', '=', param('name'));
  });
  for (const db of [open(prepared), open(prepared)]) {
    for (const name of ['a', 'b']) await counted.all(db, { name });
  }
  assert.equal(built, 1);
  assert.deepEqual(prepared, Array(2).fill('select "name" from "plans" where "name" = ?'));
});

test('a value that cannot be stored and a foreign connection reject and never throw synchronously', async () => {
  const db = open();
  const wrong = insert.all(db, { ...a, monthlyEmails: true } as unknown as PlanRow);
  await assert.rejects(wrong, /can only bind numbers, strings, bigints, buffers, and null/);
  assert.deepEqual(await all.all(db, {}), []);
  await assert.rejects(all.first(db.withoutPlugins(), {}), /not made by db\/dialect/);
});

test('a write that returns a row has its foreign keys checked, also when one row is asked for', async () => {
  const db = open();
  const orphan = statement((kysely, param: Param<{ id: `ten_${string}`; plan: string }>) =>
    kysely
      .insertInto('tenants')
      .values({ id: param('id'), name: 'x', plan: param('plan'), createdAt: 0, status: 'active' })
      .returning('id'),
  );
  await assert.rejects(orphan.first(db, { id: 'ten_1', plan: 'none' }), /FOREIGN KEY/);
  await insert.all(db, a);
  assert.deepEqual(await orphan.first(db, { id: 'ten_1', plan: 'a' }), { id: 'ten_1' });
});
