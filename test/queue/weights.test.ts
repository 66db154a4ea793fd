import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followWeights } from '../../src/queue/weights.ts';
import { listWeights, setTenantPlan } from '../../src/tenants/store.ts';
import { explain } from '../support/explain.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { openSpool } from '../support/spool.ts';
import { storePlan } from '../support/store-plan.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openRoutedSpool } from './routed-spool.ts';

test('the weights other than 1 are told at start and after each change, and a read that fails is repeated', async (t) => {
  const spool = await openSpool();
  t.after(() => spool.close());
  const { app, clock, tenantId } = spool;
  let isBroken = false;
  const query: typeof app.db.query = async (...asked) => {
    if (isBroken) throw new Error('the disk is broken');
    return app.db.query(...asked);
  };
  const db = { ...app.db, query };
  const errors: unknown[] = [];
  const log = { ...app.log, error: (...logged: unknown[]) => void errors.push(logged) } as typeof app.log;
  const told: Record<string, number>[] = [];
  const stop = followWeights({ ...app, db, log }, (weights) => told.push(Object.fromEntries(weights)));
  const toldSoFar = async (count: number) => {
    await waitUntil(() => told.length === count);
    return told.at(-1);
  };
  assert.deepEqual(await toldSoFar(1), {});
  await storePlan(app.db, 'large', { weight: 5 });
  await app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'large' });
  isBroken = true;
  app.wakeups.notify('plans');
  await waitUntil(() => errors.length === 1);
  isBroken = false;
  await clock.advance(1_000);
  assert.deepEqual(await toldSoFar(2), { [tenantId]: 5 });
  await storePlan(app.db, 'large', { weight: 1 });
  app.wakeups.notify('plans');
  assert.deepEqual(await toldSoFar(3), {});
  stop();
  app.wakeups.notify('plans');
  await clock.advance(1_000);
  assert.equal(told.length, 3);
});

test('weights are found without the tenants of plans that have none', async () => {
  const plan = await explain((tx) => listWeights.run(tx, undefined));
  assert.deepEqual(plan, ['SCAN plans', 'SEARCH tenants USING INDEX tenantsOfPlan (plan=?)']);
});

test('the mail of tenants leaves by the weights of their plans', async (t) => {
  const sink = await startSmtpSink();
  t.after(() => sink.close());
  const spool = await openRoutedSpool({ '192.0.2.1': sink.port }, 1);
  t.after(() => spool.close());
  spool.addZone('rcpt.example A 192.0.2.1');
  const { liveKey: key } = await spool.addTenant('other');
  await spool.addDomain(key, 'other.example');
  await storePlan(spool.app.db, 'large', { weight: 3 });
  await spool.app.db.commit(setTenantPlan, { tenant: spool.tenantId, plan: 'large' });
  for (let index = 0; index < 12; index++) {
    await spool.accept(`small${index}@rcpt.example`, { key, from: 'a@other.example' });
    await spool.accept(`large${index}@rcpt.example`);
  }
  await spool.deliverDue();
  const names = sink.messages.map(({ recipients: [address = ''] }) => address.replace(/\d.*/, ''));
  assert.equal(names.length, 24);
  const large = names.slice(0, 12).filter((name) => name === 'large').length;
  assert.equal(large, 9, names.join(' '));
});
