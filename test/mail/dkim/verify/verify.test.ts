import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { createKeyParser } from '../../../../src/mail/dkim/verify/keys.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import {
  ed25519TestKey,
  rsaTestKey,
  type SignOptions,
  signTestMessage,
  type TestKey,
} from '../../../support/sign-message.ts';
import { zoneDns } from '../../../support/zone-dns.ts';
import { verifyTestMessage } from './verify-test-message.ts';

const RSA = rsaTestKey();
const NOW = Date.UTC(2026, 0, 1);
const NOW_SECONDS = NOW / 1_000;
const PLAIN = 'From: <a@example.com>\r\nTo: b@example.net\r\nSubject: Hi\r\n\r\nHello\r\nWorld\r\n';

type Case = {
  record?: string;
  zone?: string;
  reason?: string;
  edit?(signed: string): string;
} & Partial<SignOptions>;

/** Returns the result and the reason of a signature, and the names that were asked for. */
async function verify({ record, zone, reason, edit = (signed) => signed, key = RSA, ...options }: Case) {
  const { selector = 's1', domain = 'example.com' } = options;
  const name = `${selector}._domainkey.${domain}`;
  const dns = zoneDns(zone ?? `${name} TXT "${record ?? key.record}"`);
  if (reason !== undefined) dns.fail(name, reason);
  const asked: string[] = [];
  const txt = (asks: string) => {
    asked.push(asks);
    return dns.txt(asks);
  };
  const message = edit(signTestMessage(PLAIN, { key, ...options }));
  const [outcome] = await verifyTestMessage(message, { dns: { ...dns, txt }, clock: createFakeClock(NOW) });
  return { outcome: `${outcome?.result}${outcome?.reason ? `: ${outcome.reason}` : ''}`, asked, name };
}

/** Returns the record of an RSA key with a modulus of this size, to which nobody has the private key. */
function recordOfSize(bits: number, exponent = 'AQAB'): string {
  const modulus = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  modulus[0] = 0xff >> (8 * modulus.length - bits);
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: exponent };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return `v=DKIM1; p=${key.export({ type: 'spki', format: 'der' }).toString('base64')}`;
}

const publicPart = (key: TestKey) => key.record.replace(/.*p=/, '');
const replace = (from: string | RegExp, to: string) => ({
  edit: (signed: string) => signed.replace(from, to),
});

test('a good signature passes in every form, with RSA and with Ed25519', async () => {
  for (const key of [RSA, rsaTestKey(2_048), ed25519TestKey()])
    for (const canonicalization of ['simple/simple', 'simple/relaxed', 'relaxed/simple', 'relaxed/relaxed'])
      assert.equal((await verify({ key, canonicalization })).outcome, 'pass', canonicalization);
  assert.equal((await verify({ canonicalization: 'relaxed' })).outcome, 'pass');
  assert.equal((await verify({ selector: '2026_a.mail' })).outcome, 'pass');
});

test('a change of the header or of the body fails', async () => {
  assert.equal((await verify(replace('Hi', 'Ho'))).outcome, 'fail: bad signature');
  assert.equal((await verify(replace('World', 'world'))).outcome, 'fail: the body has been changed');
  const overSigned = { names: ['From', 'From', 'Subject', 'Subject'] };
  const secondSubject = replace('Subject: Hi', 'Subject: Ho\r\nSubject: Hi');
  assert.equal((await verify({ ...overSigned, ...secondSubject })).outcome, 'fail: bad signature');
});

test('a field that is hidden behind a bare LF is a field', async () => {
  const { outcome } = await verify({
    names: ['From', 'From'],
    ...replace('Subject: Hi', 'Subject: Hi\nFrom: <evil@example.org>'),
  });
  assert.equal(outcome, 'fail: bad signature');
});

test('a signature that is not plainly valid is not verified, and its key is not looked up', async () => {
  const cases: [string, Case][] = [
    ['neutral: the signature has no v=', replace('v=1; ', '')],
    ['neutral: the version is unknown', replace('v=1; ', 'v=2; ')],
    ['neutral: the signature has no bh=', replace(/bh=[^;]*;/, '')],
    ['neutral: the signature has a syntax error', { tags: 'h=From; ' }],
    ['neutral: the signature has a syntax error', { tags: 'nothing; ' }],
    ['neutral: the signature has a syntax error', { tags: '; ' }],
    ['neutral: the signature has a syntax error', { tags: 'n=a\0b; ' }],
    ['neutral: the algorithm is unknown', { algorithm: 'rsa-sha512' }],
    ['policy: SHA-1 is too weak', { algorithm: 'rsa-sha1' }],
    ['neutral: the canonicalization is unknown', { canonicalization: 'nowsp/simple' }],
    ['neutral: the key is not published in the DNS', { tags: 'q=http; ' }],
    ['neutral: i= is not in the domain of d=', { tags: 'i=a@example.org; ' }],
    ['neutral: i= is not in the domain of d=', { tags: 'i=a@badexample.com; ' }],
    ['neutral: h= is not a list of fields', { names: ['From', 'a b'] }],
    ['permerror: From is not signed', { names: ['To', 'Subject'] }],
    ['neutral: bh= is not base64', replace(/bh=/, 'bh=*')],
    ['neutral: b= is not base64', replace(/\r\n b=/, '\r\n b=*')],
    ['neutral: t= is not a time', { tags: 't=-1; ' }],
    ['neutral: x= is not a time', { tags: 'x=tomorrow; ' }],
    ['neutral: it expires before it was made', { tags: `t=${NOW_SECONDS}; x=${NOW_SECONDS}; ` }],
    ['policy: the signature has expired', { tags: `x=${NOW_SECONDS - 1}; ` }],
    ['neutral: l= is not a number', { tags: 'l=ten; ' }],
    ['neutral: the name of the key is too long', { domain: `${'a.'.repeat(125)}com` }],
  ];
  for (const [expected, signature] of cases) {
    const { outcome, asked } = await verify({ zone: '', ...signature });
    assert.deepEqual([outcome, asked], [expected, []]);
  }
  assert.equal((await verify({ tags: `t=${NOW_SECONDS}; x=${NOW_SECONDS + 1}; ` })).outcome, 'pass');
  assert.equal((await verify({ tags: 'i=a=40b@mail.Example.com; q=http:dns/txt; ' })).outcome, 'pass');
});

test('bytes that cut a name off, or end it early, in d= or s= never reach the DNS', async () => {
  for (const bytes of [
    '\0',
    '\0.any',
    ' ',
    '\t',
    '\r\n ',
    ',',
    "'",
    '"',
    '(',
    '\\',
    '/',
    '%',
    '=',
    '\x80',
    '\u00fc',
    '..',
    '-',
  ]) {
    for (const name of ['d=example.com', 's=s1']) {
      const { outcome, asked } = await verify(replace(name, `${name}${bytes}x.example.com-`));
      assert.match(outcome, /^neutral: /);
      assert.deepEqual(asked, [], JSON.stringify(bytes));
    }
  }
});

test('a signature that leaves a part of the body to others does not count', async () => {
  const length = 'Hello\r\nWorld\r\n'.length;
  assert.equal(
    (await verify({ bodyLength: 5, tags: 'l=5; ' })).outcome,
    'policy: a part of the body is not signed',
  );
  assert.equal(
    (await verify({ bodyLength: 0, tags: 'l=0; ' })).outcome,
    'policy: a part of the body is not signed',
  );
  assert.equal((await verify({ tags: `l=${length}; ` })).outcome, 'pass');
  assert.equal(
    (await verify({ tags: `l=${length + 1}; ` })).outcome,
    'permerror: l= is larger than the body',
  );
  const appended = replace('World\r\n', 'World\r\nand more\r\n');
  assert.match((await verify({ tags: `l=${length}; `, ...appended })).outcome, /^policy/);
});

test('a key that may not be used for the signature is a permanent error', async () => {
  const p = publicPart(RSA);
  const ed25519 = ed25519TestKey();
  const cases: [string, Case][] = [
    ['permerror: there is no key', { zone: '' }],
    ['permerror: there is no key', { zone: 's1._domainkey.example.com A 192.0.2.1' }],
    ['permerror: the key is revoked', { record: 'v=DKIM1; p=' }],
    ['permerror: the key record is invalid', { record: 'v=DKIM1' }],
    ['permerror: the key record is invalid', { record: `v=DKIM1; p=${p}; p=${p}` }],
    ['permerror: the version of the key is unknown', { record: `v=DKIM2; p=${p}` }],
    ['permerror: the version of the key is unknown', { record: `p=${p}; v=DKIM1` }],
    ['permerror: the key is not for mail', { record: `v=DKIM1; s=tlsrpt; p=${p}` }],
    ['permerror: the key is not for SHA-256', { record: `v=DKIM1; h=sha1; p=${p}` }],
    ['permerror: the type of the key is unknown', { record: `v=DKIM1; k=dsa; p=${p}` }],
    ['permerror: the key cannot be read', { record: 'v=DKIM1; p=AAAA' }],
    ['permerror: the key cannot be read', { record: 'v=DKIM1; p=*' }],
    ['permerror: the key cannot be read', { record: `v=DKIM1; k=ed25519; p=${p}` }],
    ['permerror: the key cannot be read', { record: `v=DKIM1; p=${publicPart(ed25519)}` }],
    ['permerror: the key is for another algorithm', { record: ed25519.record }],
    ['permerror: the key is for another algorithm', { key: ed25519, record: RSA.record }],
    [
      'permerror: the identity is below the domain of the key',
      { record: `t=s; p=${p}`, tags: 'i=@a.example.com; ' },
    ],
    ['policy: a key of 1023 bits is too weak', { record: recordOfSize(1_023) }],
    ['permerror: the key is too large', { record: recordOfSize(8_193) }],
    ['permerror: the key is too large', { record: recordOfSize(2_048, '____________') }],
    ['fail: bad signature', { record: rsaTestKey().record }],
    ['fail: bad signature of a test', { record: `${rsaTestKey().record}; t=y` }],
  ];
  for (const [expected, signature] of cases) assert.equal((await verify(signature)).outcome, expected);
});

test('a key that may be used is found in every form of a record', async () => {
  const p = publicPart(RSA);
  for (const record of [
    `p=${p}`,
    `v=DKIM1;p=${p};`,
    ` v = DKIM1 ; k = rsa ; h = sha1 : sha256 ; s = email : other ; t = y : s ; n=note; p= ${p.slice(0, 9)} ${p.slice(9)}`,
    `v=DKIM1; s=*; p=${p}`,
  ])
    assert.equal((await verify({ record })).outcome, 'pass', record);
  const bare = createPublicKey(RSA.privateKey).export({ type: 'pkcs1', format: 'der' });
  assert.equal((await verify({ record: `p=${bare.toString('base64')}` })).outcome, 'pass');
});

test('a key that cannot be looked up is a temporary error', async () => {
  const { outcome, asked, name } = await verify({ reason: 'ESERVFAIL' });
  assert.deepEqual([outcome, asked], ['temperror: the key could not be looked up: ESERVFAIL', [name]]);
});

test('the text of a key record is parsed once', () => {
  const parse = createKeyParser();
  assert.equal(parse(RSA.record), parse(RSA.record));
  assert.notEqual(parse(RSA.record), createKeyParser()(RSA.record));
});
