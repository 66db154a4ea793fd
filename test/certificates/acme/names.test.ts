import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { updateNames } from '../../../src/certificates/acme/names.ts';
import { listKnownNames } from '../../../src/certificates/acme/store.ts';
import { setupLogPath } from '../../../src/domains/set-up.ts';
import { endDomain } from '../../../src/domains/store.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { findTask } from '../../../src/tasks/store.ts';
import { addDomain } from '../../domains/fixtures.ts';
import { HOSTNAME, type OrderingHost, openOrderingHost, START, ZONE } from './host.ts';

const VERIFIED = { status: 'verified', productType: 'api', verifiedSince: START - DAY_MS } as const;
const NAME = 'mta-sts.a.example';

const namesOf = async ({ app }: OrderingHost) =>
  (await listKnownNames(app.db.read)).map(({ name, tenantId }) => [name, tenantId]);

/** Has names of verified domains lead here. */
function lead(host: OrderingHost, ...names: string[]): void {
  host.dns.setZone([ZONE, ...names.map((name) => `${name} A 192.0.2.1`)].join('\n'));
}

test('names of verified domains have certificates, and lose them with their keys when the domain changes hands', async () => {
  await using host = await openOrderingHost();
  const other = await host.test.addTenant('second');
  const domain = await addDomain(host.test, { ...VERIFIED, id: 'dom_1', name: 'a.example' });
  const fields = { ...VERIFIED, id: 'dom_2', name: 'a.example', verifiedSince: START } as const;
  await addDomain({ ...host.test, tenantId: other.tenantId }, fields);
  lead(host, NAME);
  await host.updateNames();
  await host.run();
  const first = await host.row(NAME);
  assert.equal(first.tenantId, host.test.tenantId);
  assert.notEqual(first.chain, null);

  await host.app.db.commit(endDomain, { id: domain.id, tenantId: host.test.tenantId, now: START });
  await host.updateNames();
  const second = await host.row(NAME);
  assert.equal(second.tenantId, other.tenantId);
  assert.equal(second.chain, null);
  assert.notEqual(second.privateKeySealed, first.privateKeySealed);

  await host.app.db.commit(endDomain, { id: 'dom_2', tenantId: other.tenantId, now: START });
  await host.updateNames();
  assert.deepEqual(await namesOf(host), [[HOSTNAME, null]]);
  const task = { kind: 'certificate-orders', reference: NAME };
  assert.equal(await findTask(host.app.db.read, task), undefined);
});

test('a name that a certificate of the configuration covers is not ordered', async () => {
  await using host = await openOrderingHost({ configured: [HOSTNAME] });
  await host.updateNames();
  assert.deepEqual(await namesOf(host), [[`track.${HOSTNAME}`, null]]);
});

test('behind a proxy that has the ports of HTTPS, the hostname alone has a certificate, for mail', async () => {
  await using host = await openOrderingHost({ configured: [], env: { POSTRIDER_HTTPS_ENABLED: 'false' } });
  await host.updateNames();
  assert.deepEqual(await namesOf(host), [[HOSTNAME, null]]);
});

test('tenants share a daily number of orders, of which one tenant has a quarter', async () => {
  await using host = await openOrderingHost({ env: { POSTRIDER_ACME_TENANT_ORDERS_PER_DAY: '8' } });
  const names = Array.from({ length: 5 }, (_, number) => `mta-sts.d${number}.example`);
  for (const [number] of names.entries())
    await addDomain(host.test, { ...VERIFIED, id: `dom_${number}`, name: `d${number}.example` });
  lead(host, ...names);
  await host.updateNames();
  await host.run();
  const ordered = host.authority.orders.map(({ identifiers }) => identifiers[0]?.value);
  assert.deepEqual(ordered.toSorted(), [...names.slice(0, 2), HOSTNAME].toSorted());
  const waiting = await host.row(names[2]);
  assert.equal(waiting.lastError, 'the orders of this day are used up');
  assert.equal(waiting.nextAttemptAt, START + DAY_MS);
  await host.clock.advance(DAY_MS);
  await host.run();
  assert.equal(host.authority.orders.length, 5);
});

test('a thousand dead names cost the authority nothing, and other tenants no order', async () => {
  await using host = await openOrderingHost({ env: { POSTRIDER_ACME_TENANT_ORDERS_PER_DAY: '4' } });
  for (let number = 0; number < 30; number += 1)
    await addDomain(host.test, { ...VERIFIED, id: `dom_${number}`, name: `dead${number}.example` });
  const other = await host.test.addTenant('second');
  await addDomain(
    { ...host.test, tenantId: other.tenantId },
    { ...VERIFIED, id: 'dom_a', name: 'a.example' },
  );
  lead(host, NAME);
  await host.updateNames();
  await host.run();
  assert.equal(host.authority.orders.length, 2);
  assert.notEqual((await host.row(NAME)).chain, null);
  const dead = await host.row('mta-sts.dead7.example');
  assert.equal(dead.lastError, 'mta-sts.dead7.example has no address in DNS');
});

test('an authority that is down does not use up the orders of a day', async () => {
  await using host = await openOrderingHost({
    env: { POSTRIDER_ACME_TENANT_ORDERS_PER_DAY: '1' },
    behaviour: { refuse: () => ({ status: 503, type: 'serverInternal' }) },
  });
  await addDomain(host.test, { ...VERIFIED, id: 'dom_1', name: 'a.example' });
  lead(host, NAME);
  await host.updateNames();
  await host.run();
  host.authority.behaviour.refuse = () => undefined;
  await host.clock.advance(DAY_MS / 24);
  await host.run();
  assert.equal((await host.row(NAME)).lastError, null);
});

test('a rate limit of the authority pauses the names of tenants, and the next one is not tried', async () => {
  await using host = await openOrderingHost({
    behaviour: {
      refuse: (resource) => (resource === 'newOrder' ? { status: 429, type: 'rateLimited' } : undefined),
    },
  });
  for (const number of [1, 2])
    await addDomain(host.test, { ...VERIFIED, id: `dom_${number}`, name: `d${number}.example` });
  lead(host, 'mta-sts.d1.example', 'mta-sts.d2.example');
  await host.updateNames();
  await host.run();
  const asked = host.authority.requests.filter((resource) => resource === 'newOrder').length;
  assert.ok(asked <= 2, String(asked));
  assert.equal(
    (await host.row('mta-sts.d2.example')).lastError,
    'the authority takes no more orders at present',
  );
});

test('another authority in the configuration issues a certificate at once, and the earlier one stays until then', async () => {
  await using first = await openOrderingHost();
  await first.updateNames();
  await first.run();
  const { chain } = await first.row();
  await using second = await openOrderingHost();
  const config = { ...first.app.config, acme: second.app.config.acme };
  const certificates = { isConfigured: () => false, listUnusable: () => [] };
  await updateNames({ ...first.app, config, certificates });
  const row = await first.row();
  assert.equal(row.chain, chain);
  assert.equal(row.directory, second.authority.directory);
  assert.equal(row.renewAt, START);
});

test('while a set-up is at work, nothing is looked up for the names of the operator until it asks, or an hour has passed', async () => {
  await using host = await openOrderingHost();
  const domain = { ...VERIFIED, id: 'dom_1', name: 'a.example' } as const;
  await addDomain(host.test, domain);
  lead(host, NAME);
  const log = setupLogPath(host.app.config.dataDir);
  writeFileSync(log, '');
  utimesSync(log, START / 1_000, START / 1_000);
  await host.updateNames();
  assert.deepEqual(await host.run(), [NAME], 'the domain is verified, so its records were seen');
  await host.renew();
  assert.equal((await host.row()).lastError, null);
  assert.notEqual((await host.row()).chain, null);

  await using left = await openOrderingHost();
  writeFileSync(setupLogPath(left.app.config.dataDir), '');
  utimesSync(setupLogPath(left.app.config.dataDir), START / 1_000, START / 1_000);
  await left.updateNames();
  assert.deepEqual(await left.run(), []);
  await left.clock.advance(3_600_000);
  assert.deepEqual(await left.run(), [HOSTNAME]);

  await using later = await openOrderingHost();
  writeFileSync(setupLogPath(later.app.config.dataDir), '');
  utimesSync(setupLogPath(later.app.config.dataDir), START / 1_000 - 3_600, START / 1_000 - 3_600);
  await later.updateNames();
  assert.deepEqual(await later.run(), [HOSTNAME]);
});
