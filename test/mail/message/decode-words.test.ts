import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeWords } from '../../../src/mail/message/decode-words.ts';
import { readFields } from '../../../src/mail/message/header-block.ts';

/** Returns the octets as an encoded-word. */
function word(charset: string, hex: string): string {
  return `=?${charset}?B?${Buffer.from(hex, 'hex').toString('base64')}?=`;
}

for (const [charset, words, text] of [
  ['ISO-2022-JP', ['1b24422546253925481b2842', '1b24422546253925481b2842'], 'テストテスト'],
  ['iso-2022-jp', ['1b2442254625391b284a', '1b244025481b2842', '21'], 'テスト!'],
  // Exchange cuts inside of a character, and leaves the escape sequences where they are.
  ['iso-2022-jp', ['1b244225462539' + '25', '481b2842'], 'テスト'],
  ['iso-2022-jp-2', ['1b2441565039481b2842', '1b24284330211b2842'], '中谷가'],
  ['iso-2022-kr', ['1b2429430e47510f', '1b2429430e3b730f'], '한상'],
  ['iso-2022-cn', ['1b2429410e32620f', '1b2429410e4a540f'], '测试'],
  ['hz-gb-2312', ['7e7b56507e7d', '7e7b39487e7d'], '中谷'],
  ['utf-7', ['2b414b6b', '2b414b6b2d'], '©©'],
  ['utf-7', ['2b414b6b2d', '2b414b6b2d'], '©©'],
  ['utf-8', ['e4b8', 'ad'], '中'],
] as const) {
  test(`adjacent words of ${charset} are one text: ${words.join(' ')}`, () => {
    for (const between of [' ', '\t ', ''])
      assert.equal(decodeWords(words.map((hex) => word(charset, hex)).join(between)), text);
  });
}

test('words of different charsets are read one by one', () => {
  assert.equal(decodeWords(`${word('iso-2022-jp', '1b244225461b2842')} ${word('euc-kr', 'b0a1')}`), 'テ가');
});

test('spaces and question marks inside of a word are read, and a word without an end is text', () => {
  assert.equal(decodeWords('a =?utf-8?Q?what now??= b'), 'a what now? b');
  assert.equal(decodeWords('=?utf-8?Q?open =?utf-8?Q?=C3=A9?='), '=?utf-8?Q?open é');
  assert.equal(decodeWords('=?utf-8?Q?open'), '=?utf-8?Q?open');
  assert.equal(decodeWords('=?utf-8?Q?=41?= =?utf-8?Q??= =?utf-8*en?q?b?='), 'Ab');
});

test('many beginnings of words take linear time', () => {
  const start = process.threadCpuUsage();
  decodeWords('=?utf-8?Q?'.repeat(100_000));
  decodeWords(`${'=?utf-8?Q?'.repeat(100_000)}?=`);
  const { user, system } = process.threadCpuUsage(start);
  assert.ok(user + system < 1_000_000);
});

test('a word of UTF-7 that is all plus signs takes linear time', () => {
  const start = process.threadCpuUsage();
  decodeWords(`=?utf-7?q?${'+'.repeat(200_000)}=00?= =?utf-7?q?+AOQ-?=`);
  const { user, system } = process.threadCpuUsage(start);
  // Reading that is quadratic takes half a minute.
  assert.ok(user + system < 1_000_000);
});

test('octets of 8 bits inside of a word are in its charset, whatever the rest of the field is in', () => {
  const value = (hex: string) => {
    const octets = Buffer.concat([Buffer.from('Subject: '), Buffer.from(hex, 'hex'), Buffer.from('\r\n')]);
    return decodeWords(readFields(octets, { start: 0, end: octets.length })[0]?.value ?? '');
  };
  const raw = (charset: string, hex: string) =>
    `${Buffer.from(`=?${charset}?Q?`).toString('hex')}${hex}${Buffer.from('?=').toString('hex')}`;
  assert.equal(value(raw('iso-8859-1', '4672f673636865')), 'Frösche');
  assert.equal(value(raw('koi8-r', 'c4c1')), 'да');
  // The label may be wrong.
  assert.equal(value(raw('iso-8859-1', '4672c3b673636865')), 'Frösche');
  assert.equal(value(raw('UTF-8*de', '4672f673636865')), 'Frösche');
  assert.equal(value(raw('iso-8859-1', '3d4539c3a9')), 'éÃ©');
  assert.equal(value(raw('gbk', 'c1aacda8')), '联通');
  assert.equal(value(`${raw('utf-8', 'c3bc5f')}20${raw('iso-8859-1', 'fc')}`), 'ü ü');
  assert.equal(value('4772fcdf65'), 'Grüße');
  assert.equal(value('4772c3bcc39f65'), 'Grüße');
});
