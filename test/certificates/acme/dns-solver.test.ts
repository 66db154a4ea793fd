import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { listAccountRecords } from '../../../src/certificates/acme/records.ts';
import type { IssuedChallenge } from '../../support/acme-authority.ts';
import { HOSTNAME, openOrderingHost, ZONE } from './host.ts';
import { runWhileTimePasses } from './time.ts';

const MINUTE_MS = 60_000;
const BEHIND_PROXY = { POSTRIDER_HTTPS_ENABLED: 'false' };
const RECORD = `_acme-challenge.${HOSTNAME}`;

/** Opens a host whose authority looks for the record in DNS, as RFC 8555 section 8.4 says, and finds every other answer wrong. */
async function openDnsHost(challengeTypes: readonly string[], writesDns = true, env = {}) {
  const types: string[] = [];
  const host = await openOrderingHost({ behaviour: { challengeTypes }, writesDns, env });
  host.authority.behaviour.validate = async ({ type, keyAuthorization }: IssuedChallenge) => {
    types.push(type);
    if (type !== 'dns-01') return 'the port is closed';
    const answer = await host.dns.fresh.txt(RECORD);
    const digest = createHash('sha256').update(keyAuthorization).digest('base64url');
    return answer.kind === 'found' && answer.records.includes(digest) ? undefined : 'no such record';
  };
  await host.updateNames();
  return { host, types };
}

test('a record that is written for the order proves the name, and is removed afterwards', async () => {
  const { host, types } = await openDnsHost(['dns-01']);
  await using _ = host;
  await host.run();
  assert.equal((await host.row()).lastError, null);
  assert.deepEqual(types, ['dns-01']);
  assert.deepEqual(await host.published.list(), []);
});

test('the ports come before the record, which is written once they have failed', async () => {
  const { host, types } = await openDnsHost(['http-01', 'tls-alpn-01', 'dns-01']);
  await using _ = host;
  for (const minutes of [5, 10, 0]) {
    await host.run();
    await host.clock.advance(minutes * MINUTE_MS);
  }
  assert.equal((await host.row()).lastError, null);
  assert.deepEqual(types, ['http-01', 'tls-alpn-01', 'dns-01']);
});

test('an order that fails removes its record, too', async () => {
  const { host } = await openDnsHost(['dns-01']);
  await using _ = host;
  host.authority.behaviour.validate = () => 'refused';
  await host.run();
  assert.match((await host.row()).lastError ?? '', /the challenge dns-01 \(unauthorized\): refused/);
  assert.deepEqual(await host.published.list(), []);
});

test('a record that DNS does not show within a minute is withdrawn, and the authority is not told of it', async () => {
  const { host, types } = await openDnsHost(['dns-01']);
  await using _ = host;
  host.published.isShown = false;
  const startedAt = host.clock.now();
  await runWhileTimePasses(host);
  assert.ok(host.clock.now() - startedAt >= 55_000);
  assert.match((await host.row()).lastError ?? '', /the name cannot be proven/);
  assert.deepEqual(types, []);
  assert.deepEqual(await host.published.list(), []);
});

test('a record that cannot be published is named in the log, and nothing is left of it', async () => {
  const { host, types } = await openDnsHost(['dns-01']);
  await using _ = host;
  host.published.problem = 'the server refuses';
  await host.run();
  assert.deepEqual(types, []);
  assert.ok(host.lines.some(({ problem }) => problem === 'the server refuses'));
  assert.deepEqual(await host.published.list(), []);
});

test('behind a proxy that has the ports, the record alone is tried', async () => {
  const { host, types } = await openDnsHost(['http-01', 'tls-alpn-01', 'dns-01'], true, BEHIND_PROXY);
  await using _ = host;
  await host.run();
  assert.equal((await host.row()).lastError, null);
  assert.deepEqual(types, ['dns-01']);
});

test('behind a proxy and without a record nothing is ordered, for a reason that names each way, until a record is there', async () => {
  const { host, types } = await openDnsHost(['http-01', 'dns-persist-01'], false, BEHIND_PROXY);
  await using _ = host;
  await host.run();
  assert.match(
    (await host.row()).lastError ?? '',
    /nothing is ordered.*_validation-persist.*https\.enabled is false/,
  );
  assert.deepEqual(host.authority.orders, []);
  const records = await listAccountRecords(host.app);
  const { name, value } = records.find((record) => record.name.startsWith('_validation-persist.')) ?? {};
  host.dns.setZone(`${ZONE}\n${name} TXT "${value}"`);
  host.authority.behaviour.validate = ({ type }) => void types.push(type);
  await host.renew();
  assert.equal((await host.row()).lastError, null);
  assert.deepEqual(types, ['dns-persist-01']);
});

test('a name whose DNS is written elsewhere is not proven by a record', async () => {
  const { host, types } = await openDnsHost(['dns-01'], false);
  await using _ = host;
  await host.run();
  assert.match((await host.row()).lastError ?? '', /the name cannot be proven/);
  assert.deepEqual(types, []);
});
