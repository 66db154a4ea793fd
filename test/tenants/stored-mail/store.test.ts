import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Id, newId } from '../../../src/system/ids.ts';
import { getPlanUsage, insertTenant, setTenantPlan } from '../../../src/tenants/store.ts';
import { createTenantQuota } from '../../../src/tenants/stored-mail/quota.ts';
import { BYTES_PER_MEGABYTE, readStoredBytes } from '../../../src/tenants/stored-mail/store.ts';
import { openTestDatabase } from '../../db/open.ts';
import { storePlan } from '../../support/store-plan.ts';
import { removeBytes, storeBytes, storeThenFail } from './operations.ts';

const endings: (() => Promise<void>)[] = [];
const t = { after: (run: () => Promise<void>) => void endings.push(run) };
const db = await openTestDatabase(t, { operationsModule: new URL('./operations.ts', import.meta.url) });
after(async () => {
  for (const end of endings) await end();
});

async function newTenant(storedMegabytes: number | null): Promise<Id<'ten'>> {
  const id = newId('ten', 0);
  await storePlan(db, id, { storedMegabytes });
  await db.commit(insertTenant, { id, name: id, plan: id, createdAt: 0 });
  return id;
}

const store = (tenantId: Id<'ten'>, bytes: number) => db.commit(storeBytes, { tenantId, bytes });
const remove = (tenantId: Id<'ten'>, bytes: number) => db.commit(removeBytes, { tenantId, bytes });
const storedBy = async (tenantId: Id<'ten'>) =>
  (await getPlanUsage(db.read, tenantId, '2030-01')).storedBytes;
const hasQuota = (tenantId: Id<'ten'>, sizeBytes?: number) =>
  createTenantQuota(db).hasQuotaFor(tenantId, sizeBytes);

test('bytes are counted for each tenant, and removed bytes are subtracted', async () => {
  const [one, other] = [await newTenant(null), await newTenant(null)];
  assert.equal(await storedBy(one), 0);
  await store(one, 100);
  await store(one, 23);
  await store(other, 7);
  await remove(one, 100);
  assert.deepEqual([await storedBy(one), await storedBy(other)], [23, 7]);
});

test('writes that run at the same time lose no byte, and a write that fails counts none', async () => {
  const tenantId = await newTenant(null);
  await Promise.all([
    ...Array.from({ length: 50 }, () => store(tenantId, 3)),
    ...Array.from({ length: 20 }, () => remove(tenantId, 3)),
    assert.rejects(db.commit(storeThenFail, { tenantId, bytes: 1_000 }), /refused after all/),
  ]);
  assert.equal(await storedBy(tenantId), 90);
});

test('a tenant has room until its plan is used up, and only for messages that fit', async () => {
  const tenantId = await newTenant(2);
  const limit = 2 * BYTES_PER_MEGABYTE;
  for (const [stored, sizeBytes, expected] of [
    [0, undefined, true],
    [0, limit, true],
    [0, limit + 1, false],
    [limit - 1, undefined, true],
    [limit - 1, 1, true],
    [limit - 1, 2, false],
    [limit, undefined, false],
    [limit, 0, false],
    [limit + 5, undefined, false],
  ] as const) {
    await store(tenantId, stored);
    assert.equal(await hasQuota(tenantId, sizeBytes), expected, `${stored} and ${sizeBytes}`);
    await remove(tenantId, stored);
  }
  assert.equal(await hasQuota(tenantId), true, 'removed mail frees quota');
});

test('a plan without a limit always has room, a plan of nothing has none, and neither has an unknown tenant', async () => {
  const unlimited = await newTenant(null);
  await store(unlimited, Number.MAX_SAFE_INTEGER);
  assert.equal(await hasQuota(unlimited, Number.MAX_SAFE_INTEGER), true);
  assert.equal(await hasQuota(await newTenant(0)), false);
  assert.equal(await hasQuota('ten_unknown'), false);
});

test('what is stored is read once, and mail that is noted counts from then on', async () => {
  const tenantId = await newTenant(1);
  const quota = createTenantQuota(db);
  await store(tenantId, 1_000);
  assert.equal(await quota.hasQuotaFor(tenantId, BYTES_PER_MEGABYTE - 1_000), true);
  // Nothing but mail that is noted is stored, so this goes unnoticed.
  await store(tenantId, BYTES_PER_MEGABYTE);
  assert.equal(await quota.hasQuotaFor(tenantId, 1_000), true);
  quota.noteStored(tenantId, BYTES_PER_MEGABYTE);
  assert.equal(await quota.hasQuotaFor(tenantId, 1_000), false);
  await remove(tenantId, BYTES_PER_MEGABYTE);
  assert.equal(await quota.hasQuotaFor(tenantId, 1_000), true, 'removed mail frees quota');
  const other = await newTenant(1);
  quota.noteStored(other, BYTES_PER_MEGABYTE);
  assert.equal(
    await quota.hasQuotaFor(other, 1),
    true,
    'what was noted before the first reading is part of it',
  );
});

test('mail that is stored while the sum is read is not missed', async () => {
  const tenantId = await newTenant(1);
  const quota = createTenantQuota(db, {
    async readBytes(tx, id) {
      const bytes = await readStoredBytes(tx, id);
      await store(tenantId, BYTES_PER_MEGABYTE);
      quota.noteStored(tenantId, BYTES_PER_MEGABYTE);
      return bytes;
    },
  });
  assert.equal(await quota.hasQuotaFor(tenantId, 1), false);
});

test('nobody takes a sum that is not read yet for one', async () => {
  const tenantId = await newTenant(1);
  await store(tenantId, BYTES_PER_MEGABYTE);
  const answers: boolean[] = [];
  let reads = 0;
  const quota = createTenantQuota(db, {
    async readBytes(tx, id) {
      reads += 1;
      // Another message asks while the first one waits.
      if (reads === 1) answers.push(await quota.hasQuotaFor(tenantId, 1));
      return readStoredBytes(tx, id);
    },
  });
  answers.push(await quota.hasQuotaFor(tenantId, 1));
  assert.deepEqual(answers, [false, false]);
});

test('another plan, and another limit of the plan, count at once', async () => {
  const [tenantId, small] = [await newTenant(null), await newTenant(0)];
  const quota = createTenantQuota(db);
  for (const [change, expected] of [
    [() => db.commit(setTenantPlan, { tenant: tenantId, plan: small }), false],
    [() => storePlan(db, small, { storedMegabytes: 1 }), true],
    [() => storePlan(db, small, { storedMegabytes: 0 }), false],
    [() => db.commit(setTenantPlan, { tenant: tenantId, plan: tenantId }), true],
  ] as const) {
    await change();
    for (let again = 0; again < 2; again++) assert.equal(await quota.hasQuotaFor(tenantId, 1), expected);
  }
});
