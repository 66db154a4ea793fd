import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createResolver } from '../../../src/mail/auth/resolver.ts';
import { checkSpf } from '../../../src/mail/auth/spf.ts';
import { findSpfFault } from '../../../src/mail/auth/spf-record.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const DOMAIN = 'shop.example';
const ZONE = `
  good.example    TXT "v=spf1 ip4:192.0.2.1 -all"
  nested.example  TXT "v=spf1 include:good.example include:good.example include:good.example -all"
  many.example    TXT "v=spf1 ${'include:good.example '.repeat(10)}-all"
  broken.example  TXT "v=spf1 ip5:192.0.2.1 -all"
  two.example     TXT "v=spf1 -all"
  two.example     TXT "v=spf1 ~all"
  loop.example    TXT "v=spf1 include:loop.example -all"
  text.example    TXT "hello"
  host.example    A   192.0.2.1
  host6.example   AAAA 2001:db8::1
  mail.example    MX  10 host.example
  wide.example    MX  10 host.example
${Array.from({ length: 10 }, (_, index) => `  wide.example MX 10 h${index}.example`).join('\n')}
`;

async function faultOf(record: string, trusted: readonly string[] = []): Promise<string | undefined> {
  const fault = await findSpfFault(zoneDns(ZONE), { domain: DOMAIN, record, trusted });
  return fault?.reason;
}

/** The verdict of another implementation on the same record, for a client that no term names. */
async function resultOf(record: string): Promise<string> {
  const dns = zoneDns(`${ZONE}\n${DOMAIN} TXT "${record}"`);
  const client = { address: '203.0.113.9', helo: 'x.example', sender: `a@${DOMAIN}`, hostname: 'mx.example' };
  return (await checkSpf(createResolver(dns), client)).sender.result;
}

for (const record of [
  'v=spf1 -all',
  'v=spf1',
  'v=spf1  ip4:192.0.2.0/24   ip6:2001:db8::/32 ?all',
  'v=spf1 include:good.example a:host.example a:host6.example/24//64 mx:mail.example ~all',
  'v=spf1 include:nested.example redirect=good.example',
  'v=spf1 a:nothing.example mx:text.example -all',
  'v=spf1 exists:%{ir}.%{v}._spf.%{d2} -all x-unknown=%{l}',
  'v=spf1 -all redirect=nothing.example',
  'V=SPF1 INCLUDE:Good.Example. -ALL',
]) {
  test(`receivers can evaluate "${record}"`, async () => {
    assert.equal(await faultOf(record), undefined);
    assert.notEqual(await resultOf(record), 'permerror');
  });
}

for (const [record, reason] of [
  ['v=spf1 ip4:999.1.1.1 -all', /"ip4:999\.1\.1\.1" is wrong/],
  ['v=spf1 ip4:192.0.2.1/33 -all', /"ip4:192\.0\.2\.1\/33" is wrong/],
  ['v=spf1 ip6:2001:zz::1 -all', /"ip6:2001:zz::1" is wrong/],
  ['v=spf1 include: good.example -all', /"include:" is wrong/],
  ['v=spf1 ip4: 192.0.2.1 -all', /"ip4:" is wrong/],
  ['v=spf1 ipv4:192.0.2.1 -all', /"ipv4:192\.0\.2\.1" is wrong \(Unknown mechanism "ipv4"\)/],
  ['v=spf1 192.0.2.1 -all', /"192\.0\.2\.1" is wrong/],
  ['v=spf1 -all all.', /"all\." is wrong/],
  ['v=spf1 redirect=a.example redirect=b.example', /more than 1 redirect/],
  ['v=spf1 include:nothing.example -all', /"include:nothing\.example" leads to no SPF record/],
  ['v=spf1 include:text.example -all', /leads to no SPF record/],
  ['v=spf1 redirect=nothing.example', /"redirect=nothing\.example" leads to no SPF record/],
  ['v=spf1 include:https://good.example -all', /"include:https:\/\/good\.example" names no domain/],
  [`v=spf1 include:${'a'.repeat(64)}.example -all`, /names no domain/],
  [`v=spf1 redirect=${'a.'.repeat(125)}example`, /names no domain/],
  ['v=spf1 include:two.example -all', /leads to several SPF records/],
  ['v=spf1 include:broken.example -all', /record of broken\.example cannot be read: "ip5:192\.0\.2\.1"/],
  ['v=spf1 include:many.example -all', /more than 10 lookups/],
  ['v=spf1 include:loop.example -all', /more than 10 lookups/],
  [`v=spf1 ${'a:host.example '.repeat(11)}-all`, /more than 10 lookups/],
  [
    'v=spf1 a:host.example/24 +mx:mail.example ptr ptr:x.example exists:gone.example ?a:host6.example include:nested.example redirect=good.example',
    /more than 10 lookups/,
  ],
  ['v=spf1 a:x.example a:y.example mx:z.example -all', /names of the SPF record do not exist, z\.example/],
  ['v=spf1 mx:wide.example -all', /more than 10 MX records/],
] as const) {
  test(`receivers cannot evaluate "${record.slice(0, 70)}"`, async () => {
    assert.match((await faultOf(record)) ?? '', reason);
    assert.equal(await resultOf(record), 'permerror');
  });
}

test('the record of a trusted name is not looked up, and costs its lookup all the same', async () => {
  assert.equal(await faultOf('v=spf1 include:Nothing.example. -all', ['nothing.example']), undefined);
  const many = `v=spf1 ${'include:nothing.example '.repeat(11)}-all`;
  assert.match((await faultOf(many, ['nothing.example'])) ?? '', /more than 10 lookups/);
});

test('a record that cannot be looked up is unknown, and an overlong one is not evaluated', async () => {
  const dns = zoneDns('');
  dns.fail('good.example', 'ETIMEOUT');
  const ask = (record: string) => findSpfFault(dns, { domain: DOMAIN, record, trusted: [] });
  assert.deepEqual(await ask('v=spf1 include:good.example -all'), {
    kind: 'unknown',
    reason: 'good.example: ETIMEOUT',
  });
  assert.match((await ask(`v=spf1 ${'ip4:192.0.2.1 '.repeat(1_000)}`))?.reason ?? '', /longer than 8192/);
});
