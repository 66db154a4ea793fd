import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kyselyOn } from '../../src/db/dialect.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

function open() {
  const { database } = openMemoryDatabase();
  const prepared: string[] = [];
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    prepared.push(sql);
    return prepare(sql);
  }) as typeof database.prepare;
  return { db: kyselyOn(database), prepared };
}

test('the same SQL is prepared once, whatever its parameters', async () => {
  const { db, prepared } = open();
  for (const name of ['free', 'unlimited', 'free']) {
    const row = await db.selectFrom('plans').select('name').where('name', '=', name).executeTakeFirst();
    assert.deepEqual(row, { name });
  }
  assert.equal(prepared.length, 1);
  await db.selectFrom('plans').select('createdAt').execute();
  assert.equal(prepared.length, 2);
});

test('a statement that was prepared before a table changed still answers with the columns of now', async () => {
  const { database } = openMemoryDatabase();
  const db = kyselyOn(database);
  const read = () => db.selectFrom('starts').selectAll().execute();
  await read();
  database.exec('ALTER TABLE starts ADD COLUMN more TEXT; INSERT INTO starts VALUES (1, NULL)');
  assert.deepEqual(await read(), [{ at: 1, more: null }]);
});

test('a change tells how many rows it touched, and returning gives them', async () => {
  const { db } = open();
  const [changed] = await db.updateTable('plans').set({ monthlyEmails: 1 }).execute();
  assert.equal(changed?.numUpdatedRows, 2n);
  const rows = await db.deleteFrom('plans').where('name', '=', 'free').returning('name').execute();
  assert.deepEqual(rows, [{ name: 'free' }]);
});

test('a transaction cannot be opened: they belong to the writer thread', async () => {
  const { db } = open();
  await assert.rejects(
    db.transaction().execute(async (tx) => tx.deleteFrom('plans').execute()),
    /writer thread/,
  );
  assert.equal((await db.selectFrom('plans').select('name').execute()).length, 2);
});
