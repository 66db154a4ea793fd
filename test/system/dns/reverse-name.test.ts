import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reverseName } from '../../../src/system/dns/reverse-name.ts';

const NIBBLES = (text: string): string => [...text].reverse().join('.');

test('an address has its own name in the DNS', () => {
  const cases: [string, string | undefined][] = [
    ['192.0.2.1', '1.2.0.192.in-addr.arpa'],
    ['::ffff:192.0.2.1', '1.2.0.192.in-addr.arpa'],
    ['2001:db8::a:1', `${NIBBLES('20010db80000000000000000000a0001')}.ip6.arpa`],
    ['example.com', undefined],
    ['', undefined],
  ];
  for (const [address, name] of cases) assert.equal(reverseName(address), name, address);
});
