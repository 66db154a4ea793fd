import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  getSendingDomain,
  isSandboxDomain,
  isSimulatorDomain,
  mayStillSend,
  type Sender,
} from '../../src/domains/sender.ts';
import { GRACE_MS } from '../../src/domains/states.ts';
import { endDomain } from '../../src/domains/store.ts';
import { AppError } from '../../src/system/errors.ts';
import { newId } from '../../src/system/ids.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { addDomain } from './fixtures.ts';

const clock = createFakeClock(1_800_000_000_000);
const t = await openTestApp({ system: { clock } });
after(() => t.close());

const ask = (domain: string, sender: Partial<Sender> = {}) =>
  getSendingDomain(t.app, { tenantId: t.tenantId, mode: 'live', domain, simulatorOnly: false, ...sender });

async function refused(asked: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof AppError);
    assert.deepEqual([error.code, error.options.param], ['domain_not_verified', 'from']);
    assert.match(error.message, message);
    return true;
  });
}

const UNTRACKED = { openTracking: 0, clickTracking: 0, trackingHost: null, trackingCheckedAt: null };
const UNSET = { tracking: UNTRACKED, returnPathHost: null };

test('a verified domain of the tenant sends, in both modes', async () => {
  const { id } = await addDomain(t, { name: 'verified.example', status: 'verified' });
  for (const mode of ['live', 'test'] as const) {
    assert.deepEqual(await ask('verified.example', { mode }), { domainId: id, ...UNSET });
  }
});

for (const status of ['pending', 'failed'] as const) {
  test(`a domain that is ${status} does not send, in no mode, and the refusal says what to do`, async () => {
    const name = `${status}.example`;
    const { id } = await addDomain(t, { name, status });
    for (const sender of [{}, { mode: 'test' }, { simulatorOnly: true }] as const) {
      await refused(ask(name, sender), new RegExp(`${name} is not verified; .*/v1/domains/${id}/verify`));
    }
  });
}

test('a domain in temporary failure sends for 72 hours', async () => {
  const status = 'temporary_failure';
  const now = clock.now();
  const inTime = await addDomain(t, { name: 'in.example', status, failingSince: now - GRACE_MS + 1 });
  await addDomain(t, { name: 'out.example', status, failingSince: now - GRACE_MS });
  assert.deepEqual(await ask('in.example'), { domainId: inTime.id, ...UNSET });
  await refused(ask('out.example'), /out\.example is not verified/);
});

test("an unknown domain, another tenant's, a deleted one, a parent and a subdomain do not send", async () => {
  const other = await t.addTenant('other');
  await addDomain(t, { name: 'theirs.example', status: 'verified', tenantId: other.tenantId });
  const deleted = await addDomain(t, { name: 'deleted.example', status: 'verified' });
  await t.app.db.commit(endDomain, { id: deleted.id, tenantId: t.tenantId, now: 1 });
  await addDomain(t, { name: 'mid.family.example', status: 'verified' });
  for (const domain of [
    'unknown.example',
    'theirs.example',
    'deleted.example',
    'family.example',
    'low.mid.family.example',
  ]) {
    await refused(ask(domain), new RegExp(`${domain} is not one of yours; add it with POST /v1/domains`));
  }
});

test('the sandbox sends with test keys, and with live keys to the simulator alone', async () => {
  const sandbox = 'sandbox.mx.postrider.example';
  assert.deepEqual(await ask(sandbox, { mode: 'test' }), {
    domainId: null,
    tracking: null,
    returnPathHost: null,
  });
  assert.deepEqual(await ask(sandbox, { simulatorOnly: true }), {
    domainId: null,
    tracking: null,
    returnPathHost: null,
  });
  await refused(ask(sandbox), /test keys.*@?simulator\.mx\.postrider\.example/);
});

test('sandbox and simulator are known by their whole name, in any case', () => {
  const config = { hostname: 'MX.example' };
  assert.ok(isSandboxDomain(config, 'Sandbox.mx.example'));
  assert.ok(isSimulatorDomain(config, 'simulator.MX.example'));
  for (const domain of ['mx.example', 'x.sandbox.mx.example', 'sandbox.mx.example.org', 'sandbox']) {
    assert.ok(!isSandboxDomain(config, domain));
    assert.ok(!isSimulatorDomain(config, domain.replace('sandbox', 'simulator')));
  }
  assert.ok(!isSandboxDomain(config, 'simulator.mx.example'));
  assert.ok(!isSimulatorDomain(config, 'sandbox.mx.example'));
});

test('scheduled mail still goes when its domain is verified, or lapsed for less than 72 hours', async () => {
  const now = clock.now();
  const status = 'temporary_failure';
  const whole = await addDomain(t, { name: 'whole.example', status: 'verified' });
  const lapsed = await addDomain(t, { name: 'lapsed.example', status, failingSince: now - GRACE_MS + 1 });
  for (const { id } of [whole, lapsed]) assert.equal(await mayStillSend(t.app, id), true);
  const over = await addDomain(t, { name: 'over.example', status, failingSince: now - GRACE_MS });
  const failed = await addDomain(t, { name: 'still-failed.example', status: 'failed' });
  const pending = await addDomain(t, { name: 'still-pending.example' });
  const deleted = await addDomain(t, { name: 'still-deleted.example', status: 'verified' });
  await t.app.db.commit(endDomain, { id: deleted.id, tenantId: t.tenantId, now });
  for (const { id } of [over, failed, pending, deleted]) assert.equal(await mayStillSend(t.app, id), false);
  assert.equal(await mayStillSend(t.app, newId('dom', now)), false);
});
