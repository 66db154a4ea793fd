import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/system/errors.ts';
import { allowsPeer, readAllowedIps } from '../../src/tenants/allowed-ips.ts';

const allows = (items: readonly string[] | null, peer: string) =>
  allowsPeer({ allowedIps: items && JSON.stringify(readAllowedIps('allowedIps', items)) }, peer);

test('each item is kept in its plainest form, once and in its place', () => {
  for (const [given, kept] of [
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['2001:db8:1:2::3/32', '2001:db8::/32'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::/0', '::/0'],
  ] as const) {
    assert.deepEqual(readAllowedIps('allowedIps', [given]), [kept], given);
  }
  assert.deepEqual(readAllowedIps('x', ['192.0.2.7', '::1', '::ffff:192.0.2.7/128', '0:0::1']), [
    '192.0.2.7',
    '::1',
  ]);
});

for (const item of [
  '',
  ' 192.0.2.7',
  'localhost',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '010.0.0.1',
  '192.0.2.7/',
  '192.0.2.7/33',
  '192.0.2.7/-1',
  '192.0.2.7/8/8',
  '192.0.2.7/255.255.255.0',
  '192.0.2.0-192.0.2.9',
  '192.0.2.7:443',
  '[::1]',
  '::1/129',
  '::ffff:10.0.0.0/95',
  'fe80::1%eth0',
  '192.0.2.7\n',
  '*',
]) {
  test(`no address and no block: ${JSON.stringify(item)}`, () => {
    assert.throws(
      () => readAllowedIps('allowedIps', ['::1', item]),
      (error) => error instanceof AppError && error.options.param === 'allowedIps[1]',
    );
  });
}

test('a key without a list may be used from anywhere, one with a list from there alone', () => {
  assert.equal(allows(null, '203.0.113.9'), true);
  const items = ['192.0.2.7', '10.0.0.0/8', '2001:db8::/32', 'fe80::/10'];
  for (const [peer, expected] of [
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['10.255.0.1', true],
    ['11.0.0.1', false],
    ['2001:db8:ffff::1', true],
    ['2001:db9::1', false],
    ['::ffff:192.0.2.7', true],
    ['::ffff:c000:207', true],
    ['::ffff:192.0.2.8', false],
    ['fe80::1%eth0', true],
    ['::1', false],
    ['', false],
    ['localhost', false],
  ] as const) {
    assert.equal(allows(items, peer), expected, peer);
  }
});

test('a whole family is that family: IPv4 in its mapped form too, and IPv6 not with it', () => {
  assert.equal(allows(['0.0.0.0/0'], '::ffff:203.0.113.9'), true);
  assert.equal(allows(['0.0.0.0/0'], '2001:db8::1'), false);
  assert.equal(allows(['::/0'], '2001:db8::1'), true);
  assert.equal(allows(['::/0'], '203.0.113.9'), false);
});

test('a key is checked against its own list of addresses at every request', () => {
  const key = { allowedIps: '["192.0.2.7"]' };
  assert.equal(allowsPeer(key, '192.0.2.7'), true);
  assert.equal(allowsPeer({ allowedIps: '["192.0.2.8"]' }, '192.0.2.7'), false);
  assert.equal(allowsPeer(key, '192.0.2.8'), false);
});

test('a block holds an address exactly when their first bits are the same', () => {
  const number = fc.integer({ min: 0, max: 0xffff_ffff });
  const text = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
  fc.assert(
    fc.property(number, number, fc.integer({ min: 0, max: 32 }), (base, other, length) => {
      // Half of the addresses near the block, where the edge is.
      for (const peer of [other, (base ^ (1 << (32 - Math.max(length, 1)))) >>> 0, base]) {
        const same = length === 0 || base >>> (32 - length) === peer >>> (32 - length);
        for (const form of [text(peer), `::ffff:${text(peer)}`]) {
          assert.equal(allows([`${text(base)}/${length}`], form), same);
        }
      }
    }),
  );
});
