import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkBimi } from '../../../src/mail/auth/authenticate.ts';
import { checkDmarc } from '../../../src/mail/auth/dmarc.ts';
import { createResolver } from '../../../src/mail/auth/resolver.ts';
import type { SpfResult } from '../../../src/mail/auth/result.ts';
import { splitFields } from '../../../src/mail/dkim/verify/header-fields.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const ZONE = `
  _dmarc.example.com          TXT "v=DMARC1; p=reject; sp=quarantine; np=reject"
  news.example.com            A   192.0.2.1
  _dmarc.strict.example       TXT "v=DMARC1; p=reject; adkim=s; aspf=s"
  _dmarc.lax.example          TXT "v=DMARC1; p=none"
  _dmarc.test.example         TXT "v=DMARC1; p=reject; t=y"
  _dmarc.laxtest.example      TXT "v=DMARC1; p=none; t=y"
  _dmarc.two.example          TXT "v=DMARC1; p=reject"
  _dmarc.two.example          TXT "v=DMARC1; p=none"
  _dmarc.bad.example          TXT "v=DMARC1; p=sometimes"
  _dmarc.registry.example     TXT "v=DMARC1; p=reject; psd=y"
  default._bimi.example.com   TXT "v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/vmc.pem"
`;

type Input = { author?: string; spf?: [SpfResult, string]; dkim?: [string, string][]; fields?: number };

async function check(
  { author = 'a@example.com', spf = ['none', ''], dkim = [], fields = 1 }: Input,
  failing: readonly string[] = [],
) {
  const dns = zoneDns(ZONE);
  for (const name of failing) dns.fail(name, 'ESERVFAIL');
  const resolver = createResolver(dns);
  const evaluation = await checkDmarc(resolver, {
    from: { addresses: author === '' ? [] : author.split(','), fields },
    spf: { result: spf[0], domain: spf[1], reason: '' },
    dkim: dkim.map(([result, domain]) => ({ result, domain })),
  });
  const { result, policy } = evaluation.outcome;
  return { ...evaluation, resolver, short: `${result}${policy ? ` ${policy}` : ''}` };
}

test('an identity that passes and is aligned makes the message pass', async () => {
  const cases: [string, Input][] = [
    ['pass reject', { spf: ['pass', 'example.com'] }],
    ['pass reject', { spf: ['pass', 'bounce.example.com'] }],
    [
      'pass reject',
      {
        dkim: [
          ['fail', 'example.com'],
          ['pass', 'mail.example.com'],
        ],
      },
    ],
    ['pass quarantine', { author: 'a@news.example.com', dkim: [['pass', 'example.com']] }],
    ['fail reject', { spf: ['pass', 'other.example'] }],
    ['fail reject', { spf: ['softfail', 'example.com'], dkim: [['policy', 'example.com']] }],
    ['fail quarantine', { author: 'a@news.example.com' }],
    ['fail reject', { author: 'a@missing.example.com' }],
    ['fail reject', { author: 'a@strict.example', dkim: [['pass', 'mail.strict.example']] }],
    ['pass reject', { author: 'a@strict.example', dkim: [['pass', 'strict.example']] }],
    ['fail none', { author: 'a@lax.example' }],
    ['fail quarantine', { author: 'a@test.example' }],
    ['none', { author: 'a@two.example' }],
    ['none', { author: 'a@bad.example' }],
    ['none', { author: 'a@nothing.example' }],
    ['fail reject', { author: 'a@one.registry.example', dkim: [['pass', 'two.registry.example']] }],
    ['pass reject', { author: 'a@x.one.registry.example', dkim: [['pass', 'one.registry.example']] }],
    ['pass reject', { author: 'a@EXAMPLE.com', dkim: [['pass', 'example.com']] }],
  ];
  for (const [expected, input] of cases)
    assert.equal((await check(input)).short, expected, JSON.stringify(input));
});

test('a policy that is being tested is told from one that is applied, as far as it asks for anything', async () => {
  for (const [author, isTest] of [
    ['a@test.example', true],
    ['a@laxtest.example', undefined],
    ['a@strict.example', undefined],
  ] as const)
    assert.equal((await check({ author })).outcome.isTest, isTest, author);
});

test('a message without exactly one author is a permanent error', async () => {
  for (const input of [
    { author: '' },
    { author: 'a@example.com,b@example.com' },
    { fields: 2 },
    { fields: 0 },
  ])
    assert.equal((await check({ ...input, spf: ['pass', 'example.com'] })).short, 'permerror');
});

test('what might have made the message pass, and is not known, is a temporary error', async () => {
  const cases: [string, Input, string[]?][] = [
    ['temperror reject', { spf: ['temperror', 'example.com'] }],
    ['temperror reject', { dkim: [['temperror', 'mail.example.com']] }],
    ['fail reject', { spf: ['temperror', 'other.example'] }],
    ['pass reject', { spf: ['temperror', 'example.com'], dkim: [['pass', 'example.com']] }],
    ['temperror', {}, ['_dmarc.example.com']],
    ['temperror', { author: 'a@nothing.example' }, ['_dmarc.nothing.example']],
  ];
  for (const [expected, input, failing] of cases)
    assert.equal((await check(input, failing)).short, expected, JSON.stringify(input));
});

test('each signature is told whether it is aligned', async () => {
  const { isAligned } = await check({
    dkim: [
      ['pass', 'mail.example.com'],
      ['pass', 'other.example'],
    ],
  });
  assert.deepEqual([isAligned('mail.example.com'), isAligned('other.example')], [true, false]);
});

test('without a policy, a signature of the very domain of the author is aligned, and no other', async () => {
  const { short, isAligned } = await check({
    author: 'a@nothing.example',
    dkim: [
      ['pass', 'nothing.example'],
      ['pass', 'other.example'],
    ],
  });
  assert.equal(short, 'none');
  assert.deepEqual([isAligned('nothing.example'), isAligned('other.example')], [true, false]);
});

test('a domain has as many lookups as its tree walk needs, however many labels it has', async () => {
  const asked: string[] = [];
  const dns = zoneDns('');
  const txt = (name: string) => {
    asked.push(name);
    return dns.txt(name);
  };
  const author = `a@${'x.'.repeat(100)}deep.example`;
  const spf = { result: 'none', domain: '', reason: '' } as const;
  await checkDmarc(createResolver({ ...dns, txt }), {
    from: { addresses: [author], fields: 1 },
    spf,
    dkim: [],
  });
  assert.ok(asked.length <= 8, `${asked.length}`);
});

test('the logo of a domain is found for a message that passes, and for no other', async () => {
  const fields = splitFields('From: <a@example.com>\r\nSubject: Hi\r\n');
  const passed = await check({ dkim: [['pass', 'example.com']] });
  assert.deepEqual(await checkBimi(passed.resolver, fields, passed.details), {
    result: 'pass',
    location: 'https://example.com/logo.svg',
    authority: 'https://example.com/vmc.pem',
  });
  for (const input of [
    {},
    { author: 'a@lax.example', dkim: [['pass', 'lax.example']] as [string, string][] },
  ]) {
    const other = await check(input);
    assert.equal((await checkBimi(other.resolver, fields, other.details)).result, 'skipped');
  }
  assert.equal((await checkBimi(passed.resolver, fields, undefined)).result, 'skipped');
});
