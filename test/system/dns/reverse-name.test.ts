import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reverseLabels, reverseName } from '../../../src/system/dns/reverse-name.ts';

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

test('the labels of an address are four numbers or 32 nibbles', () => {
  assert.deepEqual(reverseLabels('192.0.2.99'), { kind: 'ipv4', labels: '99.2.0.192' });
  assert.deepEqual(reverseLabels('::ffff:192.0.2.99'), { kind: 'ipv4', labels: '99.2.0.192' });
  const nibbles = NIBBLES('20010db8000100020003000405670089');
  assert.deepEqual(reverseLabels('2001:db8:1:2:3:4:567:89'), { kind: 'ipv6', labels: nibbles });
  assert.equal(reverseLabels('mail.example.com'), undefined);
});
