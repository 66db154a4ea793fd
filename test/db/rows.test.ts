import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kyselyOn } from '../../src/db/dialect.ts';
import {
  addToRow,
  deleteRows,
  findColumns,
  findRow,
  insertNumbered,
  insertRow,
  insertRowOnce,
  listRows,
  putRow,
  updateRows,
} from '../../src/db/rows.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

function open() {
  const prepared: string[] = [];
  const { database } = openMemoryDatabase();
  database.exec('PRAGMA foreign_keys = OFF; DELETE FROM tenants; DELETE FROM plans');
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    prepared.push(sql);
    return prepare(sql);
  }) as typeof database.prepare;
  return { tx: kyselyOn(database), prepared };
}

const a = {
  name: 'a',
  monthlyEmails: 10,
  requestsPerSecond: null,
  storedMegabytes: null,
  weight: 1,
  createdAt: 5,
};

test('a row is stored with its columns alone; those that may be empty can be left out', async () => {
  const { tx } = open();
  const more = { ...a, unknown: 'x' };
  await insertRow(tx, 'plans', more);
  await insertRow(tx, 'plans', { name: 'b', weight: 1, createdAt: 6 });
  assert.deepEqual(await findRow(tx, 'plans', { name: 'a' }), a);
  assert.deepEqual(await findRow(tx, 'plans', { name: 'b' }), {
    ...a,
    name: 'b',
    monthlyEmails: null,
    createdAt: 6,
  });
  assert.equal(await findRow(tx, 'plans', { name: 'c' }), undefined);
  await assert.rejects(insertRow(tx, 'plans', a), /UNIQUE/);
});

test('the database numbers the rows of a table that asks for it', async () => {
  const { tx } = open();
  const content = {
    tenantId: 'ten_1',
    sizeBytes: 1,
    sha256: new Uint8Array(32),
    source: new Uint8Array([1]),
  } as const;
  const first = await insertNumbered(tx, 'contents', content);
  assert.equal(await insertNumbered(tx, 'contents', content), first + 1);
});

test('a row that is there stays, is replaced, or is added to', async () => {
  const { tx } = open();
  const usage = { tenantId: 'ten_1', month: '2026-11', emails: 2 } as const;
  assert.equal(await insertRowOnce(tx, 'usage', usage), true);
  assert.equal(await insertRowOnce(tx, 'usage', { ...usage, emails: 9 }), false);
  const emails = async () => (await findRow(tx, 'usage', { tenantId: 'ten_1' }))?.emails;
  assert.equal(await emails(), 2);
  await addToRow(tx, 'usage', { ...usage, emails: 5 });
  assert.equal(await emails(), 7);
  await putRow(tx, 'usage', { ...usage, emails: 1 });
  assert.equal(await emails(), 1);
  await putRow(tx, 'usage', { ...usage, month: '2026-12' });
  assert.deepEqual(
    (await listRows(tx, 'usage', { where: { tenantId: 'ten_1' }, orderBy: 'month' })).map(
      (row) => row.emails,
    ),
    [1, 2],
  );
});

test('columns are changed and rows deleted where all values match, and nowhere else', async () => {
  const { tx } = open();
  for (const name of ['a', 'b', 'c']) await insertRow(tx, 'plans', { ...a, name });
  assert.equal(
    await updateRows(tx, 'plans', { set: { monthlyEmails: null, createdAt: 7 }, where: { name: 'b' } }),
    1,
  );
  assert.equal(
    await updateRows(tx, 'plans', { set: { createdAt: 8 }, where: { name: 'b', monthlyEmails: 10 } }),
    0,
  );
  assert.deepEqual(
    await findColumns(tx, 'plans', { select: ['createdAt', 'monthlyEmails'], where: { name: 'b' } }),
    { createdAt: 7, monthlyEmails: null },
  );
  assert.equal(await deleteRows(tx, 'plans', { monthlyEmails: 10 }), 2);
  assert.equal(await findRow(tx, 'plans', { name: 'a' }), undefined);
  assert.ok(await findRow(tx, 'plans', { name: 'b' }));
});

test('each set of columns is one SQL text, which is prepared once for a connection', async () => {
  const { tx, prepared } = open();
  for (const name of ['a', 'b']) {
    await insertRow(tx, 'plans', { ...a, name });
    await findRow(tx, 'plans', { name });
    await updateRows(tx, 'plans', { set: { createdAt: 1 }, where: { name } });
    await updateRows(tx, 'plans', { set: { monthlyEmails: 1 }, where: { name } });
  }
  assert.deepEqual(
    prepared.map((sql) => sql.split(/\s/)[0]),
    ['INSERT', 'SELECT', 'UPDATE', 'UPDATE'],
  );
});
