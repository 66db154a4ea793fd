import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressBlock,
  addressNetwork,
  addressSite,
  countedBlocks,
  SITE_FACTOR,
} from '../../src/system/address-block.ts';

test('a client is one IPv4 address in all its forms, or one IPv6 network of 64 bits in a site of 48', () => {
  for (const [address, block, site] of [
    ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2', '2001:db8:1'],
    ['2001:db8:1:2::9', '2001:db8:1:2', '2001:db8:1'],
    ['2001:db8:1:3::9', '2001:db8:1:3', '2001:db8:1'],
    ['2001:db8:2:3::9', '2001:db8:2:3', '2001:db8:2'],
    ['', '', ''],
  ] as const)
    assert.deepEqual([addressBlock(address), addressSite(address)], [block, site]);
});

test('an IPv4 address is counted once, and an IPv6 address for its network and its site', () => {
  assert.deepEqual(countedBlocks('::ffff:192.0.2.1'), [{ name: '192.0.2.1', factor: 1 }]);
  assert.deepEqual(countedBlocks('2001:db8:1:2::9'), [
    { name: '2001:db8:1:2', factor: 1 },
    { name: '2001:db8:1', factor: SITE_FACTOR },
  ]);
});

test('the network of an address is its /24, or its /48', () => {
  for (const [address, network] of [
    ['192.0.2.1', '192.0.2'],
    ['::ffff:192.0.2.255', '192.0.2'],
    ['::ffff:c000:2ff', '192.0.2'],
    ['2001:db8:1:2::3', '2001:db8:1'],
    ['', ''],
  ] as const)
    assert.equal(addressNetwork(address), network);
});
