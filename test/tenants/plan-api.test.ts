import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTenantPlan } from '../../src/tenants/store.ts';
import { openSpool, type Spool } from '../support/spool.ts';
import { storePlan } from '../support/store-plan.ts';

const world = await openSpool();
after(() => world.close());

const plan = async ({ request, liveKey }: Spool, key = liveKey) => {
  const { status, body } = await request('GET', '/v1/plan', { key });
  assert.equal(status, 200);
  return body;
};
const MARCH = { month: '2026-03', resetsAt: '2026-04-01T00:00:00.000Z', storedBytes: 0 };

test('a plan without limits counts nothing and says so', async () => {
  await world.accept('a@rcpt.example');
  assert.deepEqual(await plan(world), {
    name: 'unlimited',
    monthlyEmails: null,
    requestsPerSecond: null,
    storedMegabytes: null,
    usage: { ...MARCH, emails: null, remaining: null },
  });
});

/** A tenant that may send, on a plan of this many emails a month. */
async function openOnPlan(t: TestContext, monthlyEmails: number | null) {
  const spool = await openSpool();
  t.after(() => spool.close());
  const set = (limit: number | null) =>
    storePlan(spool.app.db, 'team', { monthlyEmails: limit, requestsPerSecond: 50, storedMegabytes: 7 });
  await set(monthlyEmails);
  await spool.app.db.commit(setTenantPlan, { tenant: spool.tenantId, plan: 'team' });
  return { spool, set };
}

test('a plan with limits tells what is used and what is left, to keys of either mode', async (t) => {
  const { spool } = await openOnPlan(t, 10);
  const team = { name: 'team', monthlyEmails: 10, requestsPerSecond: 50, storedMegabytes: 7 };
  assert.deepEqual(await plan(spool), { ...team, usage: { ...MARCH, emails: 0, remaining: 10 } });
  await spool.accept('a@rcpt.example');
  await spool.accept('b@rcpt.example');
  for (const key of [spool.liveKey, spool.testKey]) {
    assert.deepEqual(await plan(spool, key), { ...team, usage: { ...MARCH, emails: 2, remaining: 8 } });
  }
});

test('a new month begins with nothing used', async (t) => {
  const { spool } = await openOnPlan(t, 10);
  await spool.accept('a@rcpt.example');
  await spool.clock.advance(31 * 24 * 3_600_000);
  assert.deepEqual((await plan(spool)).usage, {
    month: '2026-04',
    resetsAt: '2026-05-01T00:00:00.000Z',
    ...{ emails: 0, remaining: 10, storedBytes: 0 },
  });
});

test('the rest of a quota is never negative, and is not shown without a limit', async (t) => {
  const { spool, set } = await openOnPlan(t, 10);
  await spool.accept('a@rcpt.example');
  await spool.accept('b@rcpt.example');
  await set(1);
  assert.deepEqual((await plan(spool)).usage, { ...MARCH, emails: 2, remaining: 0 });
  await set(null);
  assert.deepEqual((await plan(spool)).usage, { ...MARCH, emails: null, remaining: null });
});
