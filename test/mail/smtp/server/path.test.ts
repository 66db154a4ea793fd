import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseForwardPath, parseReversePath } from '../../../../src/mail/smtp/server/path.ts';

const ACCEPTED: Readonly<Record<string, string>> = {
  '<a@b.example>': 'a@b.example',
  '<A.b+c@B.EXAMPLE>': 'A.b+c@b.example',
  '<a@localhost>': 'a@localhost',
  '<"a"@b.example>': 'a@b.example',
  '<"a\\b c"@b.example>': '"ab c"@b.example',
  '<"a@x"@b.example>': '"a@x"@b.example',
  '<"\\""@b.example>': '"\\""@b.example',
  '<""@b.example>': '""@b.example',
  '<@r.example:a@b.example>': 'a@b.example',
  '<@r.example,@s.example:a@b.example>': 'a@b.example',
  '<a@[192.0.2.1]>': 'a@[192.0.2.1]',
  '<a@[IPv6:2001:DB8::1]>': 'a@[IPv6:2001:db8::1]',
  '<jürgen@bücher.example>': 'jürgen@xn--bcher-kva.example',
  [`<${'a'.repeat(244)}@b.example>`]: `${'a'.repeat(244)}@b.example`,
  [`<${'ü'.repeat(122)}@b.example>`]: `${'ü'.repeat(122)}@b.example`,
  '<a%evil.example@b.example>': 'a%evil.example@b.example',
  '<evil.example!a@b.example>': 'evil.example!a@b.example',
};

const REFUSED = [
  'a@b.example',
  '<a@b.example',
  '<a>',
  '<@b.example>',
  '<a@>',
  '<a@@b.example>',
  '<a@b@c.example>',
  '<.a@b.example>',
  '<..@b.example>',
  '<a b@b.example>',
  '<a,b@b.example>',
  '<a@b_c.example>',
  '<a@b..example>',
  '<a@b.example.>',
  '<a@-b.example>',
  '<a@b-.example>',
  '<a@b.example >',
  '< a@b.example>',
  '<"a@b.example>',
  '<"a"b@b.example>',
  '<@r.example:>',
  '<@r.example a@b.example>',
  '<a@[192.0.2.256]>',
  '<a@[192.0.2.1>',
  '<a@[127.1]>',
  '<a@[IPv6:192.0.2.1]>',
  '<a@[2001:db8::1]>',
  '<a@[x:y]>',
  '<a@xn--\u00fc.example>',
  '<a@pay\u00adpal.example>',
  `<${'a'.repeat(245)}@b.example>`,
  `<${'ü'.repeat(123)}@b.example>`,
  '<a\u202eb@b.example>',
  '<"a\u0085"@b.example>',
  '<\ufffd@b.example>',
  `<a@${'b'.repeat(64)}.example>`,
  `<a@${'b.'.repeat(126)}example>`,
  'postmaster',
  '<<a@b.example>>',
];

test('a path is an address in one spelling', () => {
  for (const [text, address] of Object.entries(ACCEPTED)) {
    const path = parseForwardPath(`${text} X=1`);
    assert.equal(path?.address, address, text);
    assert.equal(path?.rest, ' X=1');
    assert.equal(path?.isUtf8, text.includes('ü'));
  }
});

test('anything else is no path', () => {
  for (const text of REFUSED) {
    assert.equal(parseForwardPath(text), undefined, text);
    assert.equal(parseReversePath(text), undefined, text);
  }
});

test('only a sender may have dots at its end and next to each other, as some providers gave out addresses', () => {
  for (const localPart of ['a..b', 'ab.', 'a...b..', 'ü..b']) {
    const path = `<${localPart}@b.example>`;
    assert.equal(parseReversePath(`${path} X`)?.address, `${localPart}@b.example`);
    assert.equal(parseForwardPath(path), undefined);
  }
  const startedAt = process.threadCpuUsage();
  assert.equal(parseReversePath(`<${'a.'.repeat(5_000)}`), undefined);
  assert.ok(process.threadCpuUsage(startedAt).user < 100_000, 'the time is linear');
});

test('only a sender may be empty, and only the postmaster needs no domain', () => {
  assert.deepEqual(parseReversePath('<> X'), { address: '', isUtf8: false, rest: ' X' });
  assert.equal(parseForwardPath('<>'), undefined);
  assert.deepEqual(parseForwardPath('<Postmaster>'), { address: 'Postmaster', isUtf8: false, rest: '' });
  assert.equal(parseReversePath('<postmaster>'), undefined);
});

test('the address of a path is a path with the same address', () => {
  const part = fc.stringMatching(/^[a-z0-9.+"\\ @:,-]{1,12}$/);
  fc.assert(
    fc.property(part, part, fc.boolean(), (local, domain, isQuoted) => {
      const localPart = isQuoted ? `"${local.replace(/["\\]/g, '\\$&')}"` : local;
      const path = parseForwardPath(`<${localPart}@${domain}>`);
      if (!path) return;
      assert.equal(parseForwardPath(`<${path.address}>`)?.address, path.address);
      assert.equal(path.address.slice(path.address.lastIndexOf('@') + 1), domain);
    }),
    { numRuns: 500 },
  );
});

test('the time for a path does not grow faster than its length', () => {
  for (const text of [
    `<${'a.'.repeat(2_000)}`,
    `<"${'\\a'.repeat(2_000)}`,
    `<@${'a-'.repeat(2_000)}`,
    `<${'@a,'.repeat(1_300)}`,
    `<a@${'a-'.repeat(2_000)}`,
  ])
    assert.equal(parseForwardPath(text), undefined);
});
