/** Orders that go on after an attempt has ended, and certificates that cannot be used any more. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { openCertificateKey } from '../../../src/certificates/acme/certificate-key.ts';
import { orderUnusable } from '../../../src/certificates/acme/names.ts';
import { openCertificates } from '../../../src/certificates/certificates.ts';
import { sleep } from '../../../src/system/clock.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { HOSTNAME, type OrderingHost, openOrderingHost } from './host.ts';
import { runWhileTimePasses } from './time.ts';

/** Opens a host with an order that has begun, whose authority was too busy to end it within one attempt. */
async function openBusyHost(): Promise<OrderingHost> {
  const host = await openOrderingHost({
    behaviour: { busyLooks: Number.POSITIVE_INFINITY, validate: () => undefined },
  });
  await host.updateNames();
  return host;
}

test('an authority that takes long for each answer ends an attempt in bounded time, and the order goes on at the next one', async () => {
  await using host = await openBusyHost();
  host.authority.behaviour.beforeAnswer = () => sleep(host.clock, 10_000);
  await runWhileTimePasses(host);
  const { lastError, orderUrl, nextAttemptAt } = await host.row();
  assert.match(lastError ?? '', /the authority is still busy with the order/);
  assert.ok(orderUrl);
  // Two minutes have room for twelve answers of ten seconds.
  const looks = host.authority.requests.filter((resource) => resource === 'order').length;
  assert.ok(looks >= 1 && looks <= 12, String(looks));
  host.authority.behaviour.busyLooks = 0;
  await host.clock.advance((nextAttemptAt ?? 0) - host.clock.now());
  await runWhileTimePasses(host);
  assert.equal((await host.row()).lastError, null);
  assert.equal(host.authority.orders.length, 1);
});

test('an order goes on after refusals that say nothing about it, but not for ever', async () => {
  await using host = await openBusyHost();
  await runWhileTimePasses(host);
  const { orderUrl } = await host.row();
  for (const refusal of [
    { status: 503, type: 'serverInternal' },
    { status: 429, type: 'rateLimited' },
  ]) {
    host.authority.behaviour.refuse = (resource) => (resource === 'order' ? refusal : undefined);
    await host.clock.advance(((await host.row()).nextAttemptAt ?? 0) - host.clock.now());
    await host.run();
    const row = await host.row();
    assert.match(row.lastError ?? '', new RegExp(`the authority refused an order \\(${refusal.type}\\)`));
    assert.equal(row.orderUrl, orderUrl);
  }
  assert.equal(host.authority.orders.length, 1);
  for (let failures = 4; failures <= 9; failures += 1) {
    await host.clock.advance(((await host.row()).nextAttemptAt ?? 0) - host.clock.now());
    await host.run();
  }
  host.authority.behaviour.refuse = () => undefined;
  host.authority.behaviour.busyLooks = 0;
  await host.clock.advance(((await host.row()).nextAttemptAt ?? 0) - host.clock.now());
  await host.run();
  assert.equal((await host.row()).lastError, null);
  assert.ok(host.authority.orders.length > 1);
});

test('an order that the authority does not know is begun again at once', async () => {
  for (const refusal of [
    { status: 404, type: 'notFound' },
    { status: 400, type: 'malformed' },
  ]) {
    await using host = await openBusyHost();
    await runWhileTimePasses(host);
    host.authority.behaviour.busyLooks = 0;
    host.authority.behaviour.refuse = (resource) =>
      resource === 'order' && host.authority.orders.length === 1 ? refusal : undefined;
    await host.clock.advance(((await host.row()).nextAttemptAt ?? 0) - host.clock.now());
    await host.run();
    assert.equal((await host.row()).lastError, null);
    assert.equal(host.authority.orders.length, 2);
  }
});

test('a key that cannot be opened does not stop the start, and its name gets another certificate', async () => {
  await using host = await openOrderingHost();
  await host.updateNames();
  await host.run();
  await host.run();
  const before = await host.row();
  const database = new Sqlite(join(host.test.dataDir, 'postrider.db'));
  database
    .prepare('UPDATE acmeCertificates SET privateKeySealed = ? WHERE name = ?')
    .run(`${before.privateKeySealed.slice(0, -4)}AAAA`, HOSTNAME);
  database.close();
  await using certificates = await openCertificates(host.app);
  assert.ok(
    host.lines.some(
      ({ msg }) => msg === 'the key of a certificate cannot be opened, so another one is ordered',
    ),
  );
  assert.deepEqual(certificates.listUnusable(), [HOSTNAME]);
  assert.deepEqual(await host.run(), []);
  await orderUnusable({ ...host.app, certificates });
  assert.deepEqual(await host.run(), [HOSTNAME]);
  const after = await host.row();
  assert.equal(after.lastError, null);
  assert.notEqual(after.chain, before.chain);
  assert.match(openCertificateKey(host.app, after, after.privateKeySealed), /BEGIN PRIVATE KEY/);
  await waitUntil(() => certificates.listUnusable().length === 0);
  assert.equal(certificates.store.pairsFor(HOSTNAME)[0]?.chain, after.chain);
});
