import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_HEADER_BYTES, MAX_HEADER_LINES } from '../../../src/mail/header-limits.ts';
import { MAX_RECEIVED_FIELDS, Normalizer } from '../../../src/mail/message/normalize.ts';

const KEEP = new Set(['subject', 'message-id']);

function normalizer() {
  return new Normalizer({ authservId: 'mx.example.com', keep: KEEP });
}

/** Normalizes the pieces of a text. */
function normalize(text: string, cut: number = text.length) {
  const bytes = Buffer.from(text);
  const one = normalizer();
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
