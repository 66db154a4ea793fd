import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SuppressionReason, SuppressionRow } from '../../src/db/marketing-tables.ts';
import { addSuppressions } from '../../src/suppressions/change.ts';
import { findSuppressed, type Suppressed } from '../../src/suppressions/store.ts';
import { newId } from '../../src/system/ids.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

let t: TestApp;
before(async () => {
  t = await openTestApp();
});
after(() => t.close());

function row(email: string, fields: Partial<SuppressionRow> = {}): SuppressionRow {
  return {
    id: newId('sup', 0),
    tenantId: t.tenantId,
    email,
    reason: 'bounce',
    sourceEmailId: null,
    diagnostic: null,
    createdAt: 1,
    ...fields,
  };
}

async function add(wanted: SuppressionRow): Promise<Suppressed> {
  const cause = { mode: 'live', now: wanted.createdAt } as const;
  const [added] = await t.app.db.commit(addSuppressions, { wanted: [wanted], cause });
  return added ?? assert.fail('nothing was added');
}

const suppress = (email: string, fields: Partial<SuppressionRow> = {}) => add(row(email, fields));
const rowsOf = (email: string) =>
  t.app.db.read.selectFrom('suppressions').selectAll().where('email', '=', email).execute();

test('suppressed addresses are found whatever their case, and only they', async () => {
  await suppress('Found@Example.com');
  const found = await findSuppressed(t.app.db.read, t.tenantId, [
    'free@example.com',
    'FOUND@example.COM',
    'Found@Example.com',
    'found@example.org',
    '__proto__',
    "' OR 1=1 --",
    '\0',
  ]);
  assert.deepEqual([...found], ['found@example.com']);
  assert.equal((await findSuppressed(t.app.db.read, t.tenantId, [])).size, 0);
});

test('the suppressions of one tenant are not those of another', async () => {
  const other = await t.addTenant('other');
  await suppress('mine@example.com');
  assert.equal((await findSuppressed(t.app.db.read, other.tenantId, ['mine@example.com'])).size, 0);
  const { outcome } = await suppress('mine@example.com', { tenantId: other.tenantId });
  assert.equal(outcome, 'created');
});

test('a suppression holds what it was made with, its address in lower case', async () => {
  const wanted = row('Whole@Example.com', { sourceEmailId: 'em_1', diagnostic: '550 5.1.1 no such user' });
  const { suppression, outcome } = await add(wanted);
  assert.equal(outcome, 'created');
  assert.deepEqual(suppression, { ...wanted, email: 'whole@example.com' });
  assert.deepEqual(await rowsOf('whole@example.com'), [suppression]);
});

const BY_STRENGTH: SuppressionReason[] = ['manual', 'unsubscribe', 'bounce', 'complaint'];
for (const [before, first] of BY_STRENGTH.entries()) {
  for (const [later, second] of BY_STRENGTH.entries()) {
    const isStronger = later > before;
    test(`after ${first}, ${second} ${isStronger ? 'takes over' : 'changes nothing'}`, async () => {
      const email = `${first}-${second}@example.com`;
      const old = row(email, { reason: first, sourceEmailId: 'em_1', diagnostic: 'first', createdAt: 1 });
      await add(old);
      const news = { reason: second, sourceEmailId: 'em_2', diagnostic: 'second' } as const;
      const { suppression, outcome } = await suppress(email.toUpperCase(), { ...news, createdAt: 2 });
      assert.equal(outcome, isStronger ? 'updated' : 'unchanged');
      assert.deepEqual(suppression, isStronger ? { ...old, ...news } : old);
      assert.deepEqual(await rowsOf(email), [suppression]);
    });
  }
}
