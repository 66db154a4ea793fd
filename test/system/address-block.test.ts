import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBlock } from '../../src/system/address-block.ts';

test('a client is one IPv4 address in all its forms, or one IPv6 network of 64 bits', () => {
  for (const [address, block] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::9', '2001:db8:1:2'],
    ['2001:db8:1:3::9', '2001:db8:1:3'],
    ['', ''],
  ] as const)
    assert.equal(addressBlock(address), block);
});
