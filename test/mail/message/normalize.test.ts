import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_HEADER_BYTES, MAX_HEADER_LINES } from '../../../src/mail/header-limits.ts';
import { MAX_RECEIVED_FIELDS, Normalizer } from '../../../src/mail/message/normalize.ts';

const KEEP = new Set(['subject', 'message-id']);

/** Strangers write to this recipient. */
const STRANGERS = { recipients: new Set(['bob@example.com']) };

/** Normalizes the pieces of a text. */
function normalize(
  text: string,
  cut: number = text.length,
  more: Partial<ConstructorParameters<typeof Normalizer>[0]> = {},
) {
  const bytes = Buffer.from(text);
  const one = new Normalizer({ authservId: 'mx.example.com', keep: KEEP, ...STRANGERS, ...more });
  const stored: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += cut) stored.push(...one.next(bytes.subarray(at, at + cut)));
  stored.push(...one.end());
  return { text: Buffer.concat(stored).toString(), kept: Object.fromEntries(one.kept), excess: one.excess };
}

const OURS = 'Authentication-Results: mx.example.com; dmarc=pass\r\n';

test('Return-Path is removed, however it is written, and only from the header', () => {
  for (const field of ['Return-Path: <a@b.example>\r\n', 'return-PATH :\r\n <>\r\n'])
    for (const cut of [1, 7, 100])
      assert.equal(normalize(`${field}To: a\r\n${field}\r\n${field}`, cut).text, `To: a\r\n\r\n${field}`);
});

test('results that claim to be ours are removed, however they are written', () => {
  for (const field of [
    OURS,
    'authentication-RESULTS: mx.example.com; spf=pass\r\n',
    'Authentication-Results : mx.example.com; spf=pass\r\n',
    'Authentication-Results:mx.example.com 1; none\r\n',
    'Authentication-Results:\r\n\tMX.Example.COM;\r\n dkim=pass\r\n header.d=a.example\r\n',
    'Authentication-Results: "mx.example.com"; spf=pass\r\n',
    'Authentication-Results: "mx\\.example.com"; spf=pass\r\n',
    'Authentication-Results: (a (nested \\) one) comment)\r\n (another) mx.example.com; spf=pass\r\n',
    `Authentication-Results: (${'a'.repeat(20_000)}) mx.example.com; spf=pass\r\n`,
    'Authentication-Results: (not closed mx.example.com; spf=pass\r\n',
    'Authentication-Results: ;mx.example.com; spf=pass\r\n',
  ]) {
    for (const cut of [1, 7, field.length + 40]) {
      const { text } = normalize(`To: a\r\n${field}Subject: b\r\n\r\n${OURS}`, cut);
      assert.equal(text, `To: a\r\nSubject: b\r\n\r\n${OURS}`, field);
    }
  }
  assert.equal(normalize(OURS).text, '');
});

test('results in our name are removed in every spelling that a reader may take for it', () => {
  const names = [
    'mx.example.com.',
    'MX.example.com. 1',
    'mx(a comment).example.com',
    'mx .example\r\n .com',
    '"mx".example."com"',
    'mx.example.com/1',
    'mx.example.com / 1',
    'mx.example.com, other.example',
    '=?utf-8?q?mx=2Eexample.com?=',
    '=?us-ascii?b?bXguZXhhbXBsZS5jb20=?=',
    '"=?utf-8?q?mx.example.com?="',
    'mx\u3002example\uff0ecom',
    '\uff4dx.example.com',
    'mx.exam\u00adple.com',
    'mx.example\u200b.com',
    '(=?utf-8?q?mx.example.com?=',
    '<mx.example.com>',
    "'mx.example.com'",
    '..mx.example.com..',
    '\x01mx.example.com\x7f',
    `mx.example.com${' '.repeat(2_000)}1`,
    `${'x'.repeat(2_000)} mx.example.com`,
  ];
  for (const name of names) {
    const field = `Authentication-Results: ${name}; spf=pass\r\n`;
    assert.equal(normalize(`${field}To: a\r\n\r\n`).text, 'To: a\r\n\r\n', name);
  }
  for (const name of [
    'b\u00fccher.example',
    'B\u00dcCHER.example.',
    'bu\u0308cher.example',
    'xn--BCHER-kva.example',
  ])
    for (const authservId of ['xn--bcher-kva.example', 'b\u00fccher.example']) {
      const field = `Authentication-Results: ${name}; spf=pass\r\n`;
      assert.equal(normalize(`${field}\r\n`, field.length, { authservId }).text, '\r\n', name);
    }
  for (const name of [
    'mx.example.com.evil.example',
    'amx.example.com',
    'mx.example.co',
    'xn--bcher-kva.example',
    '"mx;".example.com',
  ]) {
    const field = `Authentication-Results: ${name}; spf=pass\r\n`;
    assert.equal(normalize(`${field}\r\n`).text, `${field}\r\n`, name);
  }
});

const OWN_FIELDS = [
  'X-Spam-Flag: NO\r\n',
  'x-spam-status : No, score=-10\r\n tests=none\r\n',
  'X-Spam: no\r\n',
  'Received-SPF: pass (mx.example.com: domain of a@b.example designates 192.0.2.1)\r\n',
  'Received-SPF: pass receiver=mx(a comment).example.com; client-ip=192.0.2.1\r\n',
  'Received-SPF: pass receiver=mx.example.org; receiver=mx.example.com\r\n',
  'Received-SPF: pass\r\n receiver="MX.example.com."; client-ip=192.0.2.1\r\n',
  'Received-SPF: pass\r\n',
  'Delivered-To: Bob@Example.com\r\n',
  'Delivered-To: <bob@example.com>\r\n',
];

test('fields about spam, SPF and the recipient that could be ours are removed from mail of strangers alone', () => {
  for (const field of OWN_FIELDS) {
    for (const cut of [1, 1_000])
      assert.equal(normalize(`${field}To: a\r\n\r\n${field}`, cut).text, `To: a\r\n\r\n${field}`, field);
    // Another mail server of this machine hands mail over with what it has found out.
    assert.equal(normalize(`${field}\r\n`, 1_000, { recipients: undefined }).text, `${field}\r\n`, field);
  }
  for (const field of [
    'Received-SPF: pass (mx.example.org: domain of a@b.example)\r\n',
    'Received-SPF: pass (mx.example.com) receiver=mx.example.org\r\n',
    'Delivered-To: ann@example.com\r\n',
    'X-Spammer: no\r\n',
    'Received: from a by mx.example.com\r\n',
    'constructor: a\r\n',
  ])
    assert.equal(normalize(`${field}\r\n`).text, `${field}\r\n`);
  for (const field of ['Return-Path: <a@b.example>\r\n', OURS])
    assert.equal(normalize(`${field}\r\n`, 1_000, { recipients: undefined }).text, '\r\n');
});

test('fields of the maximum size are read in time that is linear in it', () => {
  const unit = 20_000;
  for (const [name, value] of [
    ['Authentication-Results', `${' '.repeat(12 * unit)}x`],
    ['Authentication-Results', `${'/'.repeat(12 * unit)}x`],
    ['Authentication-Results', `${'1'.repeat(12 * unit)}x`],
    ['Authentication-Results', 'xn--'.repeat(3 * unit)],
    ['Received-SPF', `pass receiver=${'xn--'.repeat(3 * unit)}`],
    ['Received-SPF', `pass${' receiver='.repeat(unit)}`],
  ] as const) {
    const began = process.cpuUsage();
    normalize(`${name}: ${value}\r\n\r\n`);
    const { user } = process.cpuUsage(began);
    // Reading that is quadratic takes over a minute.
    assert.ok(user < 2_000_000, `${value.slice(0, 20)} took ${user / 1_000} ms`);
  }
});

test('a line that is no field does not end the header, so that results after it are removed too', () => {
  for (const line of ['no field\r\n', ': no name\r\n', ' \r\n'])
    for (const cut of [1, 1_000])
      assert.equal(normalize(`${line}${OURS}To: a\r\n\r\n${OURS}`, cut).text, `${line}To: a\r\n\r\n${OURS}`);
  const hops = 'Received: by a.example\r\n'.repeat(MAX_RECEIVED_FIELDS + 1);
  assert.equal(normalize(`no field\r\n${hops}\r\n`).excess, 'received_fields');
});

test('results of others stay, and so do fields of other names', () => {
  for (const field of [
    'Authentication-Results: mx.example.org; comment="mx.example.com"\r\n',
    'Authentication-Results: (mx.example.com) mx.example.org; none\r\n',
    'Authentication-Results: other.mx.example.com;\r\n none\r\n',
    'ARC-Authentication-Results: i=1; mx.example.com; spf=pass\r\n',
    'X-Authentication-Results: mx.example.com; spf=pass\r\n',
  ])
    assert.equal(normalize(`${field}\r\n`).text, `${field}\r\n`);
});

test('the fields that the caller asks for are kept, unfolded, the first of each name', () => {
  const { kept } = normalize(
    'subject:  one\r\n\ttwo \r\nX: y\r\nMessage-ID: <a@b>\nSubject: second\r\n\r\nMessage-ID: <body@b>\r\n',
    3,
  );
  assert.deepEqual(kept, { subject: 'one\ttwo', 'message-id': '<a@b>' });
  assert.deepEqual(normalize('Subject: end').kept, { subject: 'end' });
});

test('a header block beyond a limit, and a message that has gone through 50 servers, are recognised', () => {
  const hops = (count: number) => 'Received: by a.example\r\n'.repeat(count);
  assert.equal(normalize(`${hops(MAX_RECEIVED_FIELDS)}\r\n`).excess, undefined);
  assert.equal(normalize(`${hops(MAX_RECEIVED_FIELDS + 1)}\r\n`).excess, 'received_fields');
  assert.equal(normalize(`\r\n${hops(100)}`).excess, undefined);
  const lines = (count: number) => 'A: b\r\n'.repeat(count);
  assert.equal(normalize(lines(MAX_HEADER_LINES)).excess, undefined);
  assert.equal(normalize(`${lines(MAX_HEADER_LINES)}\r\n`, 100).excess, 'header_lines');
  for (const cut of [500, 1 << 20]) {
    assert.equal(normalize(`A: ${'b'.repeat(MAX_HEADER_BYTES)}`, cut).excess, 'header_bytes');
    assert.equal(normalize(`A: b\r\n\r\n${'c'.repeat(2 * MAX_HEADER_BYTES)}`, cut).excess, undefined);
  }
});

test('the result does not depend on where the message is cut', () => {
  const part = fc.constantFrom(
    '\r\n',
    ' ',
    'A: b',
    'Received: x',
    OURS,
    'Authentication-Results: x;',
    'text',
  );
  fc.assert(
    fc.property(fc.array(part), fc.integer({ min: 1, max: 20 }), (parts, cut) => {
      const text = parts.join('');
      assert.deepEqual(normalize(text, cut), normalize(text));
    }),
  );
});
