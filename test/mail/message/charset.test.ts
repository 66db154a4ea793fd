import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeCharset, decodeKnownCharset } from '../../../src/mail/message/charset.ts';
import { decodeWords } from '../../../src/mail/message/decode-words.ts';

test('the charsets of the web and those of mail are decoded', () => {
  for (const [label, octets, text] of [
    ['UTF-8', 'c3a9', 'é'],
    ['iso-8859-15', 'a4', '€'],
    ['ISO-2022-JP', '1b2442467c4b5c1b2842', '日本'],
    ['gb2312', 'd6d0', '中'],
    ['euc-kr', 'b0a1', '가'],
    ['big5', 'a4a4', '中'],
    ['koi8-r', 'c4', 'д'],
    // The expectations below are those of Python's codecs.
    ['utf-7', '2b414b6b2d', '©'],
    ['cp437', '82', 'é'],
    ['cp850', 'd5', 'ı'],
    ['IBM850', '9b', 'ø'],
    ['koi8-t', '8a', 'ҳ'],
  ] as const)
    assert.equal(decodeCharset(Buffer.from(octets, 'hex'), label), text, label);
});

test('text without a known charset is UTF-8 when it can be, else windows-1252', () => {
  for (const label of ['', 'us-ascii', 'unknown-8bit', 'x-nothing', ' US-ASCII ']) {
    assert.equal(decodeCharset(Buffer.from('é'), label), 'é');
    assert.equal(decodeCharset(Buffer.from([0xe9, 0x80]), label), 'é€');
  }
  assert.equal(decodeKnownCharset(Buffer.from('é'), 'x-nothing'), undefined);
});

test('an encoded-word of a charset that only mail uses is decoded', () => {
  assert.equal(decodeWords('=?cp437?Q?caf=82?= =?utf-7?Q?+AKk-?='), 'café©');
  assert.equal(decodeWords('=?x-nothing?Q?a?='), '=?x-nothing?Q?a?=');
});

test('half of a surrogate pair becomes U+FFFD', () => {
  assert.equal(decodeCharset(Buffer.from('+2AA-'), 'utf-7'), '\ufffd');
});

test('any octets of any label give well-formed text', () => {
  const labels = fc.oneof(
    fc.constantFrom('utf-7', 'utf-16', 'cp850', 'iso-2022-kr', 'hz-gb-2312'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.uint8Array(), labels, (octets, label) =>
      assert.ok(decodeCharset(Buffer.from(octets), label).isWellFormed()),
    ),
  );
});
