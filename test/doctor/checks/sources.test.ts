import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfiguredSource } from '../../../src/config/sources.ts';
import { createControlServer } from '../../../src/control-socket.ts';
import { sources } from '../../../src/doctor/checks/sources.ts';
import { listOperatorRecords } from '../../../src/domains/operator-records.ts';
import { configuredSources } from '../../../src/queue/sources/configured.ts';
import { fingerprintOf } from '../../../src/queue/sources/source.ts';
import { resumeSource, suspendAddresses, suspendSource } from '../../../src/queue/sources/store.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { lines, openDoctorWorld } from '../support.ts';

const closing = closeAfterTests();
const world = closing(await openDoctorWorld());

const SOURCE: ConfiguredSource = {
  name: 'vm',
  addresses: ['45.33.32.1'],
  ehlo: 'vm.example',
  socks5: '10.0.0.9:1080',
};
const PTR = '1.32.33.45.in-addr.arpa PTR vm.example\n';
const A = 'vm.example A 45.33.32.1\n';
const SPF = 'bounce.mx.postrider.example TXT "v=spf1 ip4:45.33.32.1 -all"\n';

function contextWith(...configured: ConfiguredSource[]) {
  const { config } = world.context;
  return { ...world.context, config: { ...config, outbound: { ...config.outbound, sources: configured } } };
}

const found = async (zone: string, ...configured: ConfiguredSource[]) => {
  world.dns.setZone(zone);
  return lines(await sources.run(contextWith(...configured)));
};

test('a source needs reverse DNS that leads to its name and back, and SPF', async () => {
  assert.deepEqual(await found('', SOURCE), ['fail vm 45.33.32.1: it has no reverse DNS (PTR)']);
  assert.deepEqual(await found('1.32.33.45.in-addr.arpa PTR other.example', SOURCE), [
    'fail vm 45.33.32.1: its reverse DNS (PTR) names other.example instead of vm.example',
  ]);
  assert.deepEqual(await found(PTR, SOURCE), [
    'fail vm 45.33.32.1: vm.example, which its reverse DNS (PTR) names, does not lead back to it',
  ]);
  assert.deepEqual(await found(`${PTR}${A}`, SOURCE), [
    'fail vm 45.33.32.1: the SPF record of bounce.mx.postrider.example does not allow it (none)',
  ]);
  assert.deepEqual(await found(`${PTR}${A}${SPF}`, SOURCE), [
    'ok vm 45.33.32.1: its reverse DNS leads to vm.example and back, and SPF allows it',
  ]);
  world.dns.fail('1.32.33.45.in-addr.arpa', 'ESERVFAIL');
  assert.match((await found('', SOURCE)).join(), /^warn .* DNS does not answer/);
  world.dns.heal('1.32.33.45.in-addr.arpa');
  assert.match((await found('', { name: 'nat', addresses: ['10.0.0.1'] })).join(), /^warn .* is not public/);
  assert.match(
    (await found('', { name: 'six', addresses: ['2a00:1450::1'] })).join(),
    /^fail .* it has no reverse DNS \(PTR\); no mail leaves from it$/,
  );
  assert.deepEqual(await found(''), []);
});

test('the addresses of sources are in the SPF record of the installation', async () => {
  const context = contextWith(SOURCE, { name: 'nat', addresses: ['10.0.0.1'] });
  world.dns.setZone('mx.postrider.example A 45.33.32.2');
  const { records } = await listOperatorRecords(context, []);
  const spf = records.find(({ name }) => name === '_spf.mx.postrider.example');
  assert.equal(spf?.value, 'v=spf1 ip4:45.33.32.2 ip4:45.33.32.1 -all');
});

test('a suspended source is a finding, and the operator sees why and until when', async () => {
  const context = contextWith(SOURCE);
  const [source] = configuredSources(context.config);
  assert.ok(source);
  const { clock, db } = world.app;
  const now = clock.now();
  const suspension = {
    source: 'vm',
    address: '45.33.32.1',
    fingerprint: fingerprintOf(source),
    reason: 'the proxy cannot be reached',
    since: now,
    until: now + 60_000,
  };
  await db.commit(suspendAddresses, { suspensions: [suspension] });
  const [finding] = await sources.run(context);
  assert.equal(finding?.says, 'no mail leaves from it: the proxy cannot be reached');
  assert.equal(finding.advice, 'see to the proxy at 10.0.0.9 port 1080');
  const server = await createControlServer({ ...world.app, config: context.config });
  const shown = (await server.inject({ url: '/sources' })).json();
  await server.close();
  const { address, reason, since, until } = suspension;
  assert.deepEqual(shown.sources, [
    {
      name: 'vm',
      addresses: ['45.33.32.1'],
      ehlo: 'vm.example',
      ipv6: 'proven',
      proxy: { kind: 'socks5', address: '10.0.0.9', port: 1080 },
      pools: ['all'],
      suspended: [{ address, reason, since, until }],
      suspendedByHand: null,
      warmUp: null,
    },
  ]);
  await db.commit(suspendSource, { source: 'vm', reason: 'moved', since: now });
  const [byHand] = await sources.run(context);
  assert.deepEqual([byHand?.level, byHand?.subject], ['warn', 'vm']);
  assert.match(
    byHand?.says ?? '',
    /^no mail leaves from it since \S+Z, because an operator has suspended it: moved$/,
  );
  assert.match(byHand?.advice ?? '', /^resume it by "postrider source resume vm"/);
  await db.commit(resumeSource, { source: 'vm' });
  await db.commit(suspendAddresses, { suspensions: [suspension] });
  // A suspension of other settings means nothing.
  const changed = await found(`${PTR}${A}${SPF}`, { ...SOURCE, socks5: '10.0.0.8:1080' });
  assert.match(changed.join(), /^ok /);
});
