import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { inspectCertificates, openCertificates } from '../../../src/certificates/certificates.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { listen } from '../../../src/system/listen.ts';
import { addDomain } from '../../domains/fixtures.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { HOSTNAME, openOrderingHost, START, ZONE } from './host.ts';

test('a new certificate reaches the listeners without a restart, in place of the self-signed ones, and open connections stay', async () => {
  await using host = await openOrderingHost();
  await using certificates = await openCertificates(host.app);
  const server = createServer((socket) => socket.pipe(socket));
  const listener = await listen(host.app, server, {
    section: 'smtp',
    at: { address: '127.0.0.1', port: 0 },
    limits: { total: 10, perAddress: 10 },
    tls: { certificates: certificates.store, timeoutMs: 30_000 },
  });
  const port = Number(listener.address.split(':').at(-1));
  const dial = async () => {
    const socket = connect({ host: '127.0.0.1', port, servername: HOSTNAME, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    return socket;
  };
  const before = await dial();
  const self = before.getPeerX509Certificate();
  assert.equal(self?.issuer, self?.subject);
  await host.updateNames();
  await host.run();
  await waitUntil(() => certificates.store.pairsFor(HOSTNAME).length === 1);
  const after = await dial();
  assert.equal(after.getPeerX509Certificate()?.issuer, 'CN=Small Authority');
  before.write('still here');
  assert.equal(String((await once(before, 'data'))[0]), 'still here');
  for (const socket of [before, after]) socket.destroy();
  await listener.close();
});

test('certificates are there after a restart, those of tenants too, and threads get those of the operator alone', async () => {
  await using host = await openOrderingHost();
  const fields = { status: 'verified', productType: 'api', verifiedSince: START - DAY_MS } as const;
  await addDomain(host.test, { ...fields, id: 'dom_1', name: 'a.example' });
  host.dns.setZone(`${ZONE}\nmta-sts.a.example A 192.0.2.1`);
  await host.updateNames();
  await host.run();
  await using certificates = await openCertificates(host.app);
  const chainOf = async (name: string) => (await host.row(name)).chain;
  await waitUntil(() => certificates.store.pairsFor('mta-sts.a.example')[0]?.chain.length !== undefined);
  const tenants = await chainOf('mta-sts.a.example');
  await waitUntil(() => certificates.store.pairsFor('mta-sts.a.example')[0]?.chain === tenants);
  const followed = certificates.follow({ replace() {}, renewTicketKey() {} });
  assert.deepEqual(
    followed.map(({ chain }) => chain),
    [await chainOf(HOSTNAME)],
  );
  const listed = await inspectCertificates(host.app).list();
  assert.deepEqual(
    listed.map(({ kind, names, order }) => [kind, names?.[0], order?.lastError]),
    [
      ['acme', HOSTNAME, null],
      ['acme', 'mta-sts.a.example', null],
    ],
  );
});
