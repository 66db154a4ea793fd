import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../src/imports/decode.ts';
import { ENCODINGS, findEncoding } from '../../src/imports/encoding.ts';

test('a file that is not UTF-8 is Windows-1252, wherever the first letter of it stands', async () => {
  for (const before of [0, 10, 256 * 1024 - 1, 600_000]) {
    const file = Buffer.concat([Buffer.alloc(before, 'a'), Buffer.from([0xe9, 0x2c, 0x80])]);
    assert.equal(await findEncoding(file), 'windows-1252', `${before}`);
  }
});

test('UTF-8, UTF-16, and what is neither them nor Windows-1252 have no other encoding', async () => {
  for (const file of [
    Buffer.from(''),
    Buffer.from('email,näme'),
    Buffer.from(`\ufeff${'é'.repeat(300_000)}`),
    Buffer.from('\ufeffé', 'utf16le'),
    Buffer.from('\ufeffé', 'utf16le').swap16(),
    Buffer.from([0xe9, 0x81]),
    Buffer.concat([Buffer.from('éé'), Buffer.from([0xff])]),
  ]) {
    assert.equal(await findEncoding(file), undefined, file.toString('latin1', 0, 10));
  }
});

test('every encoding that a request can name is decoded, wherever the file is cut', async () => {
  const TEXTS: Partial<Record<(typeof ENCODINGS)[number], [bytes: number[], text: string]>> = {
    'windows-1250': [[0xb9], 'ą'],
    'windows-1251': [[0xc0], 'А'],
    'windows-1252': [[0x80], '€'],
    'iso-8859-15': [[0xa4], '€'],
    'koi8-r': [[0xe1], 'А'],
    macintosh: [[0x8e], 'é'],
    shift_jis: [[0x83, 0x65], 'テ'],
    'euc-jp': [[0xa5, 0xc6], 'テ'],
    'euc-kr': [[0xb0, 0xa1], '가'],
    gb18030: [[0xc4, 0xe3], '你'],
    big5: [[0xa7, 0x41], '你'],
    'utf-16le': [[0xe9, 0x00], 'é'],
    'utf-16be': [[0x00, 0xe9], 'é'],
  };
  for (const encoding of ENCODINGS) {
    const [bytes, expected] = TEXTS[encoding] ?? [[], ''];
    let text = '';
    let read = 0;
    for await (const piece of decode(
      bytes.map((byte) => Buffer.from([byte])),
      encoding,
    )) {
      text += piece.text.toString();
      read = piece.readBytes;
    }
    assert.deepEqual([text, read], [expected, bytes.length], encoding);
  }
});

test('octets that the named encoding does not have are refused', async () => {
  const read = async () => {
    for await (const _ of decode([Buffer.from([0x61, 0x83])], 'shift_jis'));
  };
  await assert.rejects(read, /The file is not shift_jis/);
});
