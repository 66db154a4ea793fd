/** Messages that are made to keep a mail server busy: each costs bounded time, bounded lookups and bounded memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthenticate } from '../../../src/mail/auth/authenticate.ts';
import { createBegin } from '../../../src/mail/auth/authenticator.ts';
import type { AuthenticationResult } from '../../../src/mail/auth/result.ts';
import { formatResultsField } from '../../../src/mail/auth/results-field.ts';
import { MAX_HEADER_BYTES } from '../../../src/mail/header-limits.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { rsaTestKey, signTestMessage } from '../../support/sign-message.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const KEY = rsaTestKey();
const PLAIN = 'From: <a@example.com>\r\nSubject: Hi\r\n\r\nHello\r\n';
const ZONE = `
  example.com                   TXT "v=spf1 -all"
  _dmarc.example.com            TXT "v=DMARC1; p=reject"
  s1._domainkey.example.com     TXT "${KEY.record}"
  s1._domainkey.other.example   TXT "${KEY.record}"
`;
/**
 * Maximum processor time of one message in milliseconds. Each case here takes at most a tenth of it on a calm machine; a
 * message whose cost grows with the square of its size would take minutes.
 */
const MAX_CPU_MS = 3_000;

type Received = AuthenticationResult & { names: string[] };

async function receive(message: string, zone = ZONE, sender = 'a@example.com'): Promise<Received> {
  const dns = zoneDns(zone);
  const names: string[] = [];
  const counted =
    <T>(ask: (name: string) => Promise<T>) =>
    (name: string) => {
      names.push(name);
      return ask(name);
    };
  const lookups = {
    mx: counted(dns.mx),
    a: counted(dns.a),
    aaaa: counted(dns.aaaa),
    txt: counted(dns.txt),
    cname: counted(dns.cname),
    ptr: counted(dns.ptr),
    srv: counted(dns.srv),
    tlsa: counted(dns.tlsa),
    caa: counted(dns.caa),
  };
  const clock = createFakeClock(0);
  const authenticate = createAuthenticate({ dns: lookups, clock, trustedRelays: [] });
  const begin = createBegin({ clock, log: recordLog().log }, async (received) => ({
    kind: 'done',
    result: await authenticate(received),
  }));
  const authentication = begin({
    owner: 'a',
    address: '192.0.2.1',
    helo: 'mail.example.com',
    sender,
    hostname: 'mx.example.net',
  });
  const before = process.cpuUsage();
  const bytes = Buffer.from(message, 'latin1');
  for (let at = 0; at < bytes.length; at += 64 * 1_024)
    authentication.write(bytes.subarray(at, at + 64 * 1_024));
  const result = await authentication.finish();
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < MAX_CPU_MS * 1_000, `${message.slice(0, 40)}: ${user + system} µs`);
  assert.ok(names.length <= 200, `${names.length} lookups`);
  return { ...result, names };
}

test('of 300 signatures eight are verified, those of the author first, and the others are not looked up', async () => {
  const own = signTestMessage(PLAIN, { key: KEY });
  const [signature = ''] = signTestMessage(PLAIN, { key: KEY, domain: 'other.example' }).split('From: <a@');
  const { dkim, dmarc, names } = await receive(signature.repeat(299) + own);
  assert.equal(dmarc.result, 'pass');
  const count = (result: string) => dkim.filter((outcome) => outcome.result === result).length;
  assert.equal(count('pass'), 8);
  assert.ok(count('policy') <= 16);
  assert.equal(names.filter((name) => name.includes('_domainkey')).length, 8);
  const distinct = Array.from({ length: 300 }, (_, index) => signature.replace('s=s1', `s=s${index}`)).join(
    '',
  );
  const flooded = await receive(distinct + own);
  assert.equal(flooded.dmarc.result, 'pass');
  assert.equal(flooded.names.filter((name) => name.includes('_domainkey')).length, 8);
});

test('50 sets of ARC are looked at once', async () => {
  const set = (i: number) =>
    `ARC-Seal: i=${i}; a=rsa-sha256; cv=${i === 1 ? 'none' : 'pass'}; d=other.example; s=a${i}; b=AAAA\r\n` +
    `ARC-Message-Signature: i=${i}; a=rsa-sha256; c=relaxed/relaxed; d=other.example; s=s1; h=From; bh=AAAA; b=AAAA\r\n` +
    `ARC-Authentication-Results: i=${i}; mx.other.example; dmarc=pass ${'x'.repeat(2_000)}\r\n`;
  const sets = Array.from({ length: 50 }, (_, index) => set(50 - index)).join('');
  const { arc } = await receive(sets + PLAIN);
  assert.equal(arc.result, 'fail');
});

test('headers of 256 KB in every form are read in bounded time', async () => {
  const size = MAX_HEADER_BYTES - PLAIN.length - 100;
  const fill = (unit: string, bytes = size) => unit.repeat(Math.floor(bytes / unit.length));
  const headers: [string, string][] = [
    ['fields', fill('a:\r\n')],
    ['folds', `X: ${fill('\r\n ')}\r\n`],
    ['white space', `X: a${fill(' ')}b\r\n`],
    ['white space before a colon', `X${fill(' ')}: b\r\n`],
    ['lines without a colon', `X: a\r\n${fill('y\r\n')}`],
    ['bare line ends', `X: a${fill('\nY:b', size / 2)}\r\n`],
    ['From fields', fill('From: a@b.c\r\n')],
    ['one From field', `From: ${fill('(')}\r\n`],
    ['Received fields', fill('Received: from a (b [1.2.3.4]) by c; d\r\n')],
    ['a signature of spaces', `DKIM-Signature: v=1;${fill(' ')}x\r\n`],
    ['a signature of semicolons', `DKIM-Signature: v=1${fill(';')}\r\n`],
    ['a signature of tags', `DKIM-Signature: ${fill('a=b;')}\r\n`],
    [
      'many names in h=',
      `DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; bh=AAAA; b=AAAA; h=From${fill(':From')}\r\n`,
    ],
    ['an ARC set', `ARC-Seal: i=1; ${fill(' (')}\r\n`],
    ['a BIMI selector', `BIMI-Selector: ${fill('v=BIMI1; ')}\r\n`],
    ['fields of prototypes', fill('__proto__: a\r\nconstructor: b\r\ntoString: c\r\n')],
  ];
  for (const [name, header] of headers) {
    const { dmarc } = await receive(header + PLAIN);
    assert.notEqual(dmarc.result, 'pass', name);
  }
});

test('names of prototypes are names like any other', async () => {
  const names = ['__proto__', 'constructor', 'hasOwnProperty'];
  const fields = names.map((name) => `${name}: x\r\n`).join('');
  const signed = signTestMessage(fields + PLAIN, { key: KEY, names: ['From', ...names, ...names] });
  assert.equal((await receive(signed)).dkim[0]?.result, 'pass');
  assert.equal((await receive(signed.replace('constructor: x', 'constructor: y'))).dkim[0]?.result, 'fail');
  const result = await receive(`DKIM-Signature: __proto__=x; constructor=y; v=1\r\n${PLAIN}`);
  assert.equal(result.dkim[0]?.result, 'neutral');
  assert.equal(Object.getPrototypeOf({}), Object.prototype);
});

test('records that loop, expand or are long cost bounded time and lookups', async () => {
  const long = (unit: string) => `v=spf1 ${unit.repeat(Math.floor(20_000 / unit.length))}-all`;
  const records = [
    'v=spf1 include:example.com include:example.com -all',
    'v=spf1 redirect=example.com',
    long('ip4:192.0.2.9 '),
    long('exists:%{l}.%{s}.%{d9r+-}.example '),
    long('a:x.example '),
    long('mx '),
    long('ptr '),
    `v=spf1 exists:${'%{s}'.repeat(4_000)}.example -all`,
    `v=spf1 ${'a'.repeat(20_000)} -all`,
    `v=spf1 exp=${'%{s}'.repeat(3_000)}.example -all`,
  ];
  const sender = `${'l+-'.repeat(20)}@example.com`;
  for (const record of records) {
    const zone = `example.com TXT "${record}"\n_dmarc.example.com TXT "v=DMARC1; ${'p=reject; '.repeat(5_000)}"`;
    const { spf, dmarc } = await receive(PLAIN, zone, sender);
    assert.notEqual(spf.result, 'pass', record.slice(0, 40));
    assert.notEqual(dmarc.result, 'pass');
  }
});

test('bodies of every form are hashed in bounded time', async () => {
  const units = ['\r\n', '\n', ' ', '\t', '.\r\n', ' \r\n', 'a ', '\r', 'a'.repeat(70_000)];
  const sign = (canonicalization: string) => signTestMessage(PLAIN, { key: KEY, canonicalization });
  for (const unit of units) {
    const body = unit.repeat(Math.floor(400_000 / unit.length));
    const signatures = ['simple/simple', 'relaxed/relaxed']
      .map((form) => sign(form).split('From: <a@')[0])
      .join('');
    const { dkim } = await receive(`${signatures}${PLAIN}${body}x\r\n`);
    assert.deepEqual(
      dkim.map(({ result }) => result),
      ['fail', 'fail'],
      JSON.stringify(unit.slice(0, 3)),
    );
  }
});

test('the field of results stays short for the longest message', async () => {
  const [signature = ''] = signTestMessage(PLAIN, { key: KEY, domain: `${'a'.repeat(60)}.example` }).split(
    'From: <a@',
  );
  const field = formatResultsField('mx.example.net', await receive(signature.repeat(300) + PLAIN));
  assert.ok(field.length < 16 * 1_024, `${field.length}`);
  for (const line of field.split('\r\n')) assert.ok(line.length <= 998);
});
