import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { createHttpServer } from '../../src/http/json/server.ts';
import type { HttpServer } from '../../src/http/transport/server.ts';
import { AppError } from '../../src/system/errors.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import { createLog } from '../../src/system/log.ts';
import { createWakeups } from '../../src/system/wakeups.ts';
import { createKeyRequirement } from '../../src/tenants/authenticate.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { monthOf, requireQuota, secondsLeft } from '../../src/tenants/quota.ts';
import { showQuota } from '../../src/tenants/quota-headers.ts';
import { getQuota, insertTenant } from '../../src/tenants/store.ts';
import { openTestDatabase } from '../db/open.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { idleGuards } from '../support/idle-guards.ts';
import { storePlan } from '../support/store-plan.ts';
import { charge, chargeThenFail } from './operations.ts';

const START = Date.UTC(2030, 10, 15, 12);
const clock = createFakeClock(START);

const endings: (() => Promise<void>)[] = [];
const db = await openTestDatabase(
  { after: (run) => void endings.push(run) },
  { operationsModule: new URL('./operations.ts', import.meta.url), clock },
);
const app = {
  db,
  clock,
  config: loadConfig({ env: {} }),
  wakeups: createWakeups(),
  guards: idleGuards(clock),
};
after(async () => {
  for (const end of endings) await end();
});

async function newTenant(plan: string): Promise<Id<'ten'>> {
  const id = newId('ten', START);
  await db.commit(insertTenant, { id, name: id, plan, createdAt: START });
  return id;
}

async function usedBy(tenantId: Id<'ten'>, now = START): Promise<number> {
  return (await getQuota(db.read, tenantId, monthOf(now))).emails;
}

async function refusal(work: Promise<unknown>): Promise<AppError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  return assert.fail('not refused');
}

test('the free plan accepts exactly 3,000 of 3,100 concurrent emails', async () => {
  const tenantId = await newTenant('free');
  const results: PromiseSettledResult<void>[] = [];
  const one = () => db.commit(charge, { tenantId, now: START, emails: 1 });
  // As many at the same time as the writer's port holds.
  for (let wave = 0; wave < 2; wave++) {
    results.push(...(await Promise.allSettled(Array.from({ length: 1_550 }, one))));
  }
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 3_000);
  for (const result of results) {
    if (result.status === 'rejected') assert.equal(result.reason.code, 'quota_exceeded');
  }
  assert.equal(await usedBy(tenantId), 3_000);
});

test('a refusal names the limit of the plan and the beginning of the next month', async () => {
  await storePlan(db, 'three', { monthlyEmails: 3 });
  const tenantId = await newTenant('three');
  await db.commit(charge, { tenantId, now: START, emails: 3 });
  const { code, message, options } = await refusal(db.commit(charge, { tenantId, now: START, emails: 1 }));
  assert.equal(code, 'quota_exceeded');
  assert.match(message, /3 emails per month/);
  assert.deepEqual(options.details, { limit: 3, used: 3, resetsAt: '2030-12-01T00:00:00.000Z' });
  assert.equal(options.retryAfterSeconds, 15.5 * 24 * 3_600);
});

test('several at once are counted whole or not at all', async () => {
  await storePlan(db, 'ten', { monthlyEmails: 10 });
  const tenantId = await newTenant('ten');
  await db.commit(charge, { tenantId, now: START, emails: 7 });
  await refusal(db.commit(charge, { tenantId, now: START, emails: 4 }));
  assert.equal(await usedBy(tenantId), 7);
  await db.commit(charge, { tenantId, now: START, emails: 3 });
  assert.equal(await usedBy(tenantId), 10);
  const other = await newTenant('ten');
  await refusal(db.commit(charge, { tenantId: other, now: START, emails: 11 }));
  assert.equal(await usedBy(other), 0);
});

test('an email that is refused later is not counted', async () => {
  const tenantId = await newTenant('free');
  await assert.rejects(db.commit(chargeThenFail, { tenantId, now: START, emails: 2 }), /refused after all/);
  assert.equal(await usedBy(tenantId), 0);
});

test('a month ends in UTC, and the next begins with nothing used', async () => {
  await storePlan(db, 'one', { monthlyEmails: 1 });
  const tenantId = await newTenant('one');
  const lastMs = Date.UTC(2031, 0, 1) - 1;
  await db.commit(charge, { tenantId, now: lastMs, emails: 1 });
  const { options } = await refusal(db.commit(charge, { tenantId, now: lastMs, emails: 1 }));
  assert.equal(options.retryAfterSeconds, 1);
  await db.commit(charge, { tenantId, now: lastMs + 1, emails: 1 });
  assert.deepEqual([monthOf(lastMs), monthOf(lastMs + 1)], ['2030-12', '2031-01']);
  assert.equal(secondsLeft(Date.UTC(2032, 1, 1)), 29 * 24 * 3_600);
});

test('without a limit nothing is counted, and a limit that comes later begins there', async () => {
  await storePlan(db, 'grown', { monthlyEmails: null });
  const tenantId = await newTenant('grown');
  await db.commit(charge, { tenantId, now: START, emails: 1_000 });
  assert.equal(await usedBy(tenantId), 0);
  await storePlan(db, 'grown', { monthlyEmails: 2 });
  await db.commit(charge, { tenantId, now: START, emails: 2 });
  await storePlan(db, 'grown', { monthlyEmails: 1 });
  assert.equal(
    (await refusal(db.commit(charge, { tenantId, now: START, emails: 1 }))).code,
    'quota_exceeded',
  );
});

test('asking whether there is room is answered as charging would be, and counts nothing', async () => {
  await storePlan(db, 'two', { monthlyEmails: 2 });
  const tenantId = await newTenant('two');
  await db.commit(charge, { tenantId, now: START, emails: 1 });
  await requireQuota(db.read, tenantId, { now: START, emails: 1 });
  assert.equal(await usedBy(tenantId), 1);
  const { code } = await refusal(requireQuota(db.read, tenantId, { now: START, emails: 2 }));
  assert.equal(code, 'quota_exceeded');
});

test('tenants are counted apart', async () => {
  const [one, other] = [await newTenant('free'), await newTenant('free')];
  await db.commit(charge, { tenantId: one, now: START, emails: 5 });
  assert.deepEqual([await usedBy(one), await usedBy(other)], [5, 0]);
});

async function openProbe(tenantId: Id<'ten'>): Promise<HttpServer> {
  const log = createLog('silent');
  const probe = await createHttpServer({ clock, log }, { title: 'Probe', description: '', version: '0' });
  createKeyRequirement(app)(probe);
  showQuota(probe, app);
  probe.post('/send', { config: { needs: 'send' } }, async () => {
    await db.commit(charge, { tenantId, now: clock.now(), emails: 1 });
    return {};
  });
  probe.get('/read', { config: { needs: 'read' } }, async () => ({}));
  return probe;
}

const FIELDS = ['x-quota-limit', 'x-quota-remaining', 'x-quota-reset'];

test('requests that send show the rest of the month, unless the plan has no limit', async () => {
  await storePlan(db, 'two', { monthlyEmails: 2 });
  const left = String(15.5 * 24 * 3_600);
  for (const [plan, mode, method, expected] of [
    [
      'two',
      'live',
      'POST',
      [
        [200, '2', '1', left],
        [200, '2', '0', left],
        [429, '2', '0', left],
      ],
    ],
    ['two', 'test', 'POST', [[200, undefined, undefined, undefined]]],
    ['two', 'live', 'GET', [[200, undefined, undefined, undefined]]],
    ['unlimited', 'live', 'POST', [[200, undefined, undefined, undefined]]],
  ] as const) {
    const tenantId = await newTenant(plan);
    const permission = 'full_access';
    const { token } = await createApiKey(app, { tenantId, name: 'k', mode, permission, expiresAt: null });
    const probe = await openProbe(tenantId);
    for (const answer of expected) {
      const url = method === 'POST' ? '/send' : '/read';
      const { statusCode, headers } = await probe.inject({
        method,
        url,
        headers: { authorization: `Bearer ${token}` },
      });
      assert.deepEqual(
        [statusCode, ...FIELDS.map((name) => headers[name])],
        answer,
        `${plan} ${mode} ${method}`,
      );
    }
    await probe.close();
  }
});

test('a request without a key is told nothing', async () => {
  const probe = await openProbe(await newTenant('free'));
  const { statusCode, headers } = await probe.inject({ method: 'POST', url: '/send' });
  assert.deepEqual(
    [statusCode, ...FIELDS.map((name) => headers[name])],
    [401, undefined, undefined, undefined],
  );
  await probe.close();
});
