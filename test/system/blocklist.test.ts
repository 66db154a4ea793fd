import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { blockList, createTargetGuard, MAX_CHECKED_ADDRESSES } from '../../src/system/blocklist.ts';

const guard = createTargetGuard({ allow: [], own: [] });

/** IANA's special-purpose registries for IPv4 (RFC 6890) and IPv6, and addresses that carry an IPv4 one. */
const REFUSED = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::FFFF:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '100:0:0:1::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
];

const ALLOWED = [
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '192.167.255.255',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2001:4860:4860::8888',
  '2606:4700::1111',
  '2a00:1450::1',
];

const NO_ADDRESS = [
  '',
  'localhost',
  'example.com',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '[::1]',
  ' 8.8.8.8',
];

test('no address that is not public is a target', () => {
  for (const address of REFUSED) assert.equal(guard.allows(address), false, address);
});

test('public addresses are targets, up to the edges of the private ones', () => {
  for (const address of ALLOWED) assert.equal(guard.allows(address), true, address);
});

test('text that is not an IP address is never a target', () => {
  for (const text of NO_ADDRESS) assert.equal(guard.allows(text), false, text);
});

test('addresses of this machine are no targets, public or not', () => {
  const own = createTargetGuard({ allow: [], own: ['8.8.8.8', '2606:4700::1111'] });
  assert.equal(own.allows('8.8.8.8'), false);
  assert.equal(own.allows('::ffff:8.8.8.8'), false);
  assert.equal(own.allows('2606:4700:0:0::1111'), false);
  assert.equal(own.allows('8.8.4.4'), true);
  const actual = Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((one) => one.address),
  );
  const here = createTargetGuard({ allow: [], own: actual });
  for (const address of actual) assert.equal(here.allows(address), false, address);
});

test('an exempted network is a target in each spelling, also when it is our own; its neighbours are not', () => {
  const open = createTargetGuard({ allow: ['127.0.0.0/8', 'fd00::/8'], own: ['127.0.0.1'] });
  for (const address of ['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', 'fd00::1', 'fd00:0:0::1']) {
    assert.equal(open.allows(address), true, address);
  }
  for (const address of ['128.0.0.1', '10.0.0.1', '::1', 'fc00::1', '169.254.169.254']) {
    assert.equal(open.allows(address), address === '128.0.0.1', address);
  }
});

test('a text that is not a CIDR is named in the error', () => {
  for (const text of ['127.0.0.1', 'localhost', '10.0.0.0/33', '']) {
    assert.throws(() => blockList([text]), { message: `"${text}" is not a CIDR such as 127.0.0.0/8` });
  }
});

test('only a few addresses of a host with many are considered', () => {
  const reported: number[] = [];
  const onRefused = (_host: string, addresses: readonly string[]) => reported.push(addresses.length);
  const reporting = createTargetGuard({ allow: [], own: [], onRefused });
  const many = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? '8.8.8.8' : '10.0.0.1'));
  assert.equal(reporting.keepAllowed('many.example', many).length, MAX_CHECKED_ADDRESSES / 2);
  assert.deepEqual(reported, [MAX_CHECKED_ADDRESSES / 2]);
});
