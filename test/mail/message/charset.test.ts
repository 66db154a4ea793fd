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
    ['hz-gb-2312', '7e7b565039487e7d7e7e', '中谷~'],
    // A line of HZ begins in ASCII.
    ['HZ', '7e7b56500a56', '中\nV'],
    ['iso-2022-kr', '1b2429430e47513b730f21', '한상!'],
    ['csISO2022KR', '1b2429430e4751', '한'],
    ['iso-2022-cn', '1b2429410e32624a540f21', '测试!'],
    ['johab', 'd0658a8220e2d0d96a', '한국 國★'],
    ['cp1361', 'd065', '한'],
    ['x-mac-ce', '8e81', 'éĀ'],
    ['x-mac-cyrillic', '80df', 'Ая'],
    ['csISO2022JP', '1b244225461b2842', 'テ'],
    ['iso-2022-jp-1', '1b24284430211b2842', '丂'],
    ['iso-2022-jp-2', '1b2441565039481b28421b24284330211b28421b2e411b4e69', '中谷가é'],
    ['iso-2022-jp', '1b284931321b284a5c7e1b2842', 'ｱｲ¥‾'],
    ['ansi_x3.4-1968', 'c3a9', 'é'],
  ] as const)
    assert.equal(decodeCharset(Buffer.from(octets, 'hex'), label), text, label);
});

test('text without a known charset is UTF-8 when it can be, else windows-1252', () => {
  for (const label of ['', 'us-ascii', 'unknown-8bit', 'x-user-defined', 'x-nothing', ' US-ASCII ']) {
    assert.equal(decodeCharset(Buffer.from('é'), label), 'é');
    assert.equal(decodeCharset(Buffer.from([0xe9, 0x80]), label), 'é€');
  }
  assert.equal(decodeKnownCharset(Buffer.from('é'), 'x-nothing'), undefined);
});

test('two escape sequences in a row are no error', () => {
  const twice = Buffer.from('1b284a1b2842411b24421b24402546253925481b28421b2842', 'hex');
  for (const label of ['iso-2022-jp', 'csISO2022JP', '', 'us-ascii'])
    assert.equal(decodeCharset(twice, label), 'Aテスト', label);
});

test('a character that is cut becomes U+FFFD, and what follows is read', () => {
  for (const [label, octets] of [
    ['iso-2022-jp', '1b2442251b284241'],
    ['iso-2022-kr', '1b2429430e470f41'],
    ['iso-2022-cn', '1b2429470e4421' + '0f41'],
    ['johab', 'd00a41'],
    ['hz', 'd641'],
  ] as const)
    assert.equal(
      decodeCharset(Buffer.from(octets, 'hex'), label).replace('\ufffd', '').slice(-1),
      'A',
      label,
    );
});

test('text of 7 bits with the escape sequences of ISO 2022 needs no label', () => {
  assert.equal(decodeCharset(Buffer.from('1b2442467c4b5c1b284221', 'hex'), ''), '日本!');
  assert.equal(decodeCharset(Buffer.from('1b2429430e47513b730f', 'hex'), 'unknown-8bit'), '한상');
  // Colours of a terminal are escape sequences too.
  assert.equal(decodeCharset(Buffer.from('\x1b[31mred\x1b[0m é'), ''), '\x1b[31mred\x1b[0m é');
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
