import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServers } from '../../../src/system/dns/servers.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const clock = createFakeClock(0);

test('addresses are read with and without a port, in both families', () => {
  for (const [text, address, port] of [
    ['192.0.2.1', '192.0.2.1', 53],
    ['192.0.2.1:5353', '192.0.2.1', 5353],
    ['2001:db8::1', '2001:db8::1', 53],
    ['[2001:db8::1]:5353', '2001:db8::1', 5353],
    ['[2001:db8::1]', '2001:db8::1', 53],
    ['fe80::1%eth0', 'fe80::1%eth0', 53],
  ] as const) {
    assert.deepEqual(createServers({ clock, servers: [text] }).inOrder(), [{ address, port }]);
  }
});

test('a text that is not the address of a resolver is named in the error', () => {
  for (const text of [
    '',
    'localhost',
    '192.0.2.1:',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '[192.0.2.1',
    '::1:x',
  ]) {
    assert.throws(() => createServers({ clock, servers: [text] }), {
      message: `"${text}" is not the address of a resolver such as 192.0.2.1 or [2001:db8::1]:53`,
    });
  }
});

test('at most three are asked, in the order they were given', () => {
  const servers = ['192.0.2.4', '192.0.2.3', '192.0.2.2', '192.0.2.1'];
  const asked = createServers({ clock, servers }).inOrder();
  const addresses = asked.map(({ address }) => address);
  assert.deepEqual(addresses, servers.slice(0, 3));
});

test('without any, those of the machine are asked, and looked at again every half minute', async () => {
  let machine = ['192.0.2.1'];
  const servers = createServers({ clock, servers: [], ofMachine: () => machine });
  const asked = () => servers.inOrder().map(({ address }) => address);
  assert.deepEqual(asked(), ['192.0.2.1']);
  machine = ['192.0.2.2', '192.0.2.3'];
  await clock.advance(29_999);
  assert.deepEqual(asked(), ['192.0.2.1']);
  await clock.advance(1);
  assert.deepEqual(asked(), ['192.0.2.2', '192.0.2.3']);
});

test('resolvers of the machine that cannot be parsed are ignored', () => {
  const servers = createServers({ clock, servers: [], ofMachine: () => ['junk', '192.0.2.1'] });
  assert.deepEqual(servers.inOrder(), [{ address: '192.0.2.1', port: 53 }]);
});

test('the machine can be asked for its resolvers', () => {
  for (const { port } of createServers({ clock, servers: [] }).inOrder()) assert.ok(port > 0);
});

test('resolvers are believed about DNSSEC when all of them are on loopback or trusted', () => {
  const areTrusted = (servers: string[], trusted: string[] = []) =>
    createServers({ clock, servers, trusted }).areTrusted();
  assert.equal(areTrusted(['127.0.0.53', '[::1]:53']), true);
  assert.equal(areTrusted(['127.0.0.11']), false, 'Docker asks a resolver elsewhere');
  assert.equal(areTrusted(['127.0.0.11'], ['127.0.0.11']), true);
  assert.equal(areTrusted(['127.0.0.1', '192.0.2.1']), false, 'one of them is asked over a network');
  assert.equal(areTrusted(['127.0.0.1', '192.0.2.1'], ['192.0.2.1:53']), true);
  assert.equal(areTrusted(['192.0.2.1'], ['192.0.2.1:5300']), false);
  assert.equal(areTrusted(['127.0.0.1.example'.slice(0, 9), '128.0.0.1']), false);
});
