import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkReverseDns } from '../../../src/mail/auth/client.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const V6_NAME = `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`;
const DNS = zoneDns(`
  1.2.0.192.in-addr.arpa  PTR mail.example.com
  2.2.0.192.in-addr.arpa  PTR wrong.example.com
  2.2.0.192.in-addr.arpa  PTR mail.example.com
  3.2.0.192.in-addr.arpa  PTR wrong.example.com
  4.2.0.192.in-addr.arpa  PTR not/a/host
  5.2.0.192.in-addr.arpa  PTR down.example.com
  6.2.0.192.in-addr.arpa  A   192.0.2.6
  mail.example.com        A   192.0.2.1
  mail.example.com        A   192.0.2.2
  mail.example.com        AAAA 2001:db8:0::1
  wrong.example.com       A   198.51.100.1
  ${V6_NAME} PTR mail.example.com
`);
DNS.fail('down.example.com', 'ETIMEOUT');
DNS.fail('7.2.0.192.in-addr.arpa', 'ETIMEOUT');

test('a name counts only when it leads back to the address', async () => {
  const cases: [string, string, string | undefined][] = [
    ['192.0.2.1', 'pass', 'mail.example.com'],
    ['::ffff:192.0.2.1', 'pass', 'mail.example.com'],
    ['2001:db8::1', 'pass', 'mail.example.com'],
    ['192.0.2.2', 'pass', 'mail.example.com'],
    ['192.0.2.3', 'fail', 'wrong.example.com'],
    ['192.0.2.4', 'none', undefined],
    ['192.0.2.5', 'temperror', 'down.example.com'],
    ['192.0.2.6', 'none', undefined],
    ['192.0.2.7', 'temperror', undefined],
    ['192.0.2.8', 'none', undefined],
    ['not an address', 'none', undefined],
  ];
  for (const [address, result, name] of cases)
    assert.deepEqual(await checkReverseDns(DNS, address), { result, name }, address);
});

test('an address with many names costs few lookups', async () => {
  const names = Array.from({ length: 200 }, (_, index) => `1.2.0.192.in-addr.arpa PTR h${index}.example`);
  const dns = zoneDns(names.join('\n'));
  let count = 0;
  const a = (name: string) => {
    count += 1;
    return dns.a(name);
  };
  assert.equal((await checkReverseDns({ ...dns, a }, '192.0.2.1')).result, 'fail');
  assert.equal(count, 5);
});
