/** The cases follow RFC 7208, section by section. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMessageLookups, createResolver } from '../../../src/mail/auth/resolver.ts';
import { checkSpf } from '../../../src/mail/auth/spf.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const many = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

const ZONE = `
  example.com             TXT "v=spf1 +a:mail.example.com -all"
  mail.example.com        A   192.0.2.1
  mail.example.com        A   192.0.2.2
  mail.example.com        AAAA 2001:db8::1
  1.2.0.192.in-addr.arpa  PTR mail.example.com
  9.2.0.192.in-addr.arpa  PTR forged.example.com
  forged.example.com      A   192.0.2.200

  none.example            TXT "v=spf10 -all"
  none.example            TXT "other text"
  empty.example           TXT "v=spf1"
  two.example             TXT "v=spf1 -all"
  two.example             TXT "v=spf1 +all"
  case.example            TXT "V=SPF1 IP4:192.0.2.1 -ALL"
  parts.example           TXT "v=spf1 ip4:192" ".0.2.1 -all"

  soft.example            TXT "v=spf1 ~all"
  neutral.example         TXT "v=spf1 ?all"
  fail.example            TXT "v=spf1 -all"
  order.example           TXT "v=spf1 -ip4:192.0.2.1 +all"
  late.example            TXT "v=spf1 ip4:192.0.2.1 -all nothing:x"

  ip4.example             TXT "v=spf1 ip4:192.0.2.0/31 -all"
  ip4bad.example          TXT "v=spf1 ip4:192.0.2.0/33 -all"
  ip4text.example         TXT "v=spf1 ip4:mail.example.com -all"
  ip6.example             TXT "v=spf1 ip6:2001:db8::/64 -all"
  a.example               TXT "v=spf1 a:mail.example.com/32//128 -all"
  anet.example            TXT "v=spf1 a:mail.example.com/24//64 -all"
  mx.example              TXT "v=spf1 mx -all"
  mx.example              MX  10 mail.example.com
  nullmx.example          TXT "v=spf1 mx -all"
  nullmx.example          MX  0 .
  mx11.example            TXT "v=spf1 mx -all"
  ${many(11, (index) => `mx11.example MX ${index} h${index}.mx11.example`)}
  ${many(11, (index) => `h${index}.mx11.example A 192.0.2.${index === 10 ? 1 : 100 + index}`)}
  ptr.example             TXT "v=spf1 ptr:example.com -all"
  exists.example          TXT "v=spf1 exists:%{ir}.%{v}.list.example -all"
  1.2.0.192.in-addr.list.example A 127.0.0.2

  include.example         TXT "v=spf1 include:example.com -all"
  includefail.example     TXT "v=spf1 include:fail.example +all"
  includesoft.example     TXT "v=spf1 include:soft.example ?all"
  includenone.example     TXT "v=spf1 include:none.example +all"
  includetwo.example      TXT "v=spf1 include:two.example +all"
  includedown.example     TXT "v=spf1 include:down.example +all"
  down.example            TXT "v=spf1 +all"
  redirect.example        TXT "v=spf1 redirect=example.com"
  redirectall.example     TXT "v=spf1 redirect=fail.example +all"
  redirectnone.example    TXT "v=spf1 redirect=none.example"
  redirecttwice.example   TXT "v=spf1 redirect=example.com redirect=example.com"
  unknown.example         TXT "v=spf1 x-note=%{d} +all"
  mechanism.example       TXT "v=spf1 allow:all"
  exp.example             TXT "v=spf1 exp=text.exp.example -all"
  text.exp.example        TXT "%{i} may not send, \\"; dmarc=pass"

  loop.example            TXT "v=spf1 include:loop.example -all"
  ring.example            TXT "v=spf1 include:ring2.example -all"
  ring2.example           TXT "v=spf1 redirect=ring.example"
  deep.example            TXT "v=spf1 include:d0.deep.example -all"
  ${many(12, (index) => `d${index}.deep.example TXT "v=spf1 include:d${index + 1}.deep.example -all"`)}
  ten.example             TXT "v=spf1 ${many(10, (index) => `exists:e${index}.ten.example`).replaceAll('\n', ' ')} -all"
  ${many(10, (index) => `e${index}.ten.example TXT "x"\n e${index}.ten.example A ${index === 9 ? '127.0.0.1' : '127.0.0.9'}`)}
  eleven.example          TXT "v=spf1 ${many(11, () => 'a:other.example').replaceAll('\n', ' ')} -all"
  other.example           A   192.0.2.250
  tenother.example        TXT "v=spf1 ${many(10, () => 'a:other.example').replaceAll('\n', ' ')} -all"
  void2.example           TXT "v=spf1 a:v1.example a:v2.example -all"
  void3.example           TXT "v=spf1 a:v1.example a:v2.example a:v3.example -all"

  macro.example           TXT "v=spf1 exists:%{l1r+}.%{o}.%{d2}.%{h}.m.example -all"
  user.macro.example.macro.example.mail.example.com.m.example A 127.0.0.2
  local.example           TXT "v=spf1 exists:%{l}._spf.local.example -all"
  localinclude.example    TXT "v=spf1 include:%{l}._spf.local.example -all"
  localredirect.example   TXT "v=spf1 redirect=%{l}._spf.local.example"
  locala.example          TXT "v=spf1 a:%{l}._spf.local.example/0 -all"
  localmx.example         TXT "v=spf1 mx:%{l}._spf.local.example -all"
  user+tag._spf.local.example A 127.0.0.2
  user+tag._spf.local.example TXT "v=spf1 ip4:192.0.2.1 -all"
  user+tag._spf.local.example MX 10 mail.example.com
  user=tag._spf.local.example A 127.0.0.2
  !#$%&'*/?^\`{|}~._spf.local.example A 127.0.0.2
  -user-._spf.local.example A 127.0.0.2
  a.b+c._spf.local.example A 127.0.0.2
  upper.example           TXT "v=spf1 exists:%{S}.m.example -all"
  badmacro.example        TXT "v=spf1 exists:%{z}.m.example -all"
  openmacro.example       TXT "v=spf1 exists:%{d.m.example -all"
  long.example            TXT "v=spf1 exists:%{l}.%{l}.%{l}.%{l}.%{l}.example -all"
`;

type Client = { address?: string; helo?: string };

async function check(sender: string, { address = '192.0.2.1', helo = 'mail.example.com' }: Client = {}) {
  const dns = zoneDns(ZONE);
  dns.fail('down.example', 'ESERVFAIL');
  const lookups = createMessageLookups(dns, createFakeClock(0));
  const input = { address, helo, sender, hostname: 'mx.example.net' };
  const results = await checkSpf(createResolver(lookups), input);
  return { ...results, count: lookups.count };
}

test('each case of RFC 7208 has the result that the RFC gives it', async () => {
  const cases: [section: string, sender: string, result: string, Client?][] = [
    ['2.6.1', 'a@nothing.example', 'none'],
    ['4.3', 'a@localhost', 'none'],
    ['4.3', 'no-domain', 'none'],
    ['4.3', 'a@-bad-.example', 'none'],
    ['4.4', 'a@down.example', 'temperror'],
    ['4.5', 'a@none.example', 'none'],
    ['4.5', 'a@two.example', 'permerror'],
    ['4.5', 'a@case.example', 'pass'],
    ['4.6.1', 'a@mechanism.example', 'permerror'],
    ['4.6.1', 'a@late.example', 'permerror'],
    ['4.6.2', 'a@neutral.example', 'neutral'],
    ['4.6.2', 'a@soft.example', 'softfail'],
    ['4.6.2', 'a@fail.example', 'fail'],
    ['4.6.2', 'a@order.example', 'fail'],
    ['4.6.4', 'a@loop.example', 'permerror'],
    ['4.6.4', 'a@ring.example', 'permerror'],
    ['4.6.4', 'a@deep.example', 'permerror'],
    ['4.6.4', 'a@ten.example', 'pass'],
    ['4.6.4', 'a@tenother.example', 'fail'],
    ['4.6.4', 'a@eleven.example', 'permerror'],
    ['4.6.4', 'a@void2.example', 'fail'],
    ['4.6.4', 'a@void3.example', 'permerror'],
    ['4.6.4', 'a@mx11.example', 'permerror'],
    ['4.7', 'a@empty.example', 'neutral'],
    ['3.3', 'a@parts.example', 'pass'],
    ['5', 'a@example.com', 'pass', { address: '::ffff:192.0.2.1' }],
    ['5.2', 'a@include.example', 'pass'],
    ['5.2', 'a@includefail.example', 'pass'],
    ['5.2', 'a@includesoft.example', 'neutral'],
    ['5.2', 'a@includenone.example', 'permerror'],
    ['5.2', 'a@includetwo.example', 'permerror'],
    ['5.2', 'a@includedown.example', 'temperror'],
    ['5.3', 'a@example.com', 'pass'],
    ['5.3', 'a@example.com', 'fail', { address: '192.0.2.3' }],
    ['5.3', 'a@example.com', 'pass', { address: '2001:db8::1' }],
    ['5.3', 'a@a.example', 'fail', { address: '2001:db8::2' }],
    ['5.3', 'a@anet.example', 'pass', { address: '192.0.2.77' }],
    ['5.3', 'a@anet.example', 'pass', { address: '2001:db8::77' }],
    ['5.4', 'a@mx.example', 'pass'],
    ['5.4', 'a@mx.example', 'fail', { address: '192.0.2.3' }],
    ['5.4', 'a@nullmx.example', 'fail'],
    ['5.5', 'a@ptr.example', 'pass'],
    ['5.5', 'a@ptr.example', 'fail', { address: '192.0.2.9' }],
    ['5.6', 'a@ip4.example', 'pass'],
    ['5.6', 'a@ip4.example', 'fail', { address: '192.0.2.2' }],
    ['5.6', 'a@ip4bad.example', 'permerror'],
    ['5.6', 'a@ip4text.example', 'permerror'],
    ['5.6', 'a@ip6.example', 'pass', { address: '2001:db8::7' }],
    ['5.6', 'a@ip6.example', 'fail'],
    ['5.7', 'a@exists.example', 'pass'],
    ['5.7', 'a@exists.example', 'fail', { address: '192.0.2.2' }],
    ['6', 'a@unknown.example', 'pass'],
    ['6.1', 'a@redirect.example', 'pass'],
    ['6.1', 'a@redirectall.example', 'pass'],
    ['6.1', 'a@redirectnone.example', 'permerror'],
    ['6.1', 'a@redirecttwice.example', 'permerror'],
    ['6.2', 'a@exp.example', 'fail'],
    ['7', 'user+tag@macro.example', 'pass'],
    ['7', 'other@macro.example', 'fail'],
    // Names of the DNS have other characters than names of hosts.
    ['7', 'user+tag@local.example', 'pass'],
    ['7', 'user=tag@local.example', 'pass'],
    ['7', "!#$%&'*/?^`{|}~@local.example", 'pass'],
    ['7', '-user-@local.example', 'pass'],
    ['7', 'a.b+c@local.example', 'pass'],
    ['7', 'other+tag@local.example', 'fail'],
    ['7', 'a..b@local.example', 'fail'],
    ['7', 'user+tag@localinclude.example', 'pass'],
    ['7', 'user+tag@localredirect.example', 'pass'],
    ['7', 'user+tag@locala.example', 'pass'],
    ['7', 'user+tag@localmx.example', 'pass'],
    ['7.1', 'a@badmacro.example', 'permerror'],
    ['7.1', 'a@openmacro.example', 'permerror'],
    ['7.3', 'a"b@upper.example', 'fail'],
    ['7.3', `${'x'.repeat(60)}@long.example`, 'fail'],
  ];
  for (const [section, sender, result, client] of cases)
    assert.equal((await check(sender, client)).sender.result, result, `${section} ${sender}`);
});

test('the name of the client is checked too, and stands for the null sender', async () => {
  const both = async (sender: string, helo: string) => {
    const results = await check(sender, { helo });
    return [results.sender.result, results.sender.domain, results.helo.result];
  };
  assert.deepEqual(await both('', 'example.com'), ['pass', 'example.com', 'pass']);
  assert.deepEqual(await both('', 'Fail.Example.'), ['fail', 'fail.example', 'fail']);
  assert.deepEqual(await both('', '[192.0.2.1]'), ['none', '', 'none']);
  assert.deepEqual(await both('', 'localhost'), ['none', '', 'none']);
  assert.deepEqual(await both('a@example.com', 'fail.example'), ['pass', 'example.com', 'fail']);
  assert.deepEqual(await both('a@example.com', 'x\0.example.com'), ['pass', 'example.com', 'none']);
});

test('a sender is looked up by the domain after its last @, and not at all when that is none', async () => {
  for (const sender of [
    'any@legitimate.com(a.attack.com',
    "any@legitimate.com'@any.attack.com(",
    'a@example.com\0.attack.com',
    'a@exam ple.com',
    '(a@example.com',
  ]) {
    const { sender: outcome } = await check(sender, { helo: 'localhost' });
    assert.notEqual(outcome.result, sender === '(a@example.com' ? 'none' : 'pass', sender);
  }
  assert.equal((await check(`${'a'.repeat(260)}@example.com`)).sender.result, 'none');
});

test('a record costs at most a bounded number of lookups', async () => {
  for (const sender of [
    'a@loop.example',
    'a@deep.example',
    'a@eleven.example',
    'a@mx11.example',
    'a@void3.example',
  ]) {
    const { count } = await check(sender);
    assert.ok(count <= 25, `${sender}: ${count}`);
  }
});
