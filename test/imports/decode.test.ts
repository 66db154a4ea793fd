import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decode } from '../../src/imports/decode.ts';
import { anyCharacter } from '../support/any-character.ts';

async function textOf(pieces: readonly Buffer[]): Promise<string> {
  const texts: Buffer[] = [];
  for await (const { text } of decode(pieces)) texts.push(text);
  return Buffer.concat(texts).toString();
}

function inPieces(file: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(file.length / size) }, (_, index) =>
    file.subarray(index * size, (index + 1) * size),
  );
}

const ENCODERS: Record<string, (text: string) => Buffer> = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-8 with a mark': (text) => Buffer.from(`\ufeff${text}`),
  'UTF-16, little-endian': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'UTF-16, big-endian': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
};

for (const [name, encode] of Object.entries(ENCODERS)) {
  test(`${name} is read as the text it is, wherever it is cut`, async () => {
    const text = fc.string({ unit: anyCharacter }).filter((one) => !/[\0\ufeff]/.test(one));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), async (given, size) => {
        assert.equal(await textOf(inPieces(encode(given), size)), given);
      }),
    );
  });
}

test('how far a file is read ends with its size', async () => {
  for (const encode of Object.values(ENCODERS)) {
    const file = encode('Käthe, 😀');
    let read = 0;
    for await (const { readBytes } of decode(inPieces(file, 3))) read = readBytes;
    assert.equal(read, file.length);
  }
});

test('a file in another encoding is refused with the byte that is wrong, wherever it is cut', async () => {
  const file = Buffer.from('email,name\na@b.example,Jos\xe9\n', 'latin1');
  for (const size of [1, 2, 5, 100]) {
    await assert.rejects(textOf(inPieces(file, size)), /must be UTF-8; byte 27 is not/);
  }
  await assert.rejects(textOf([Buffer.from([0x61, 0xf0, 0x9f])]), /byte 2 is not/);
  await assert.rejects(textOf([Buffer.alloc(40_000, 0x61), Buffer.from([0xff])]), /byte 40001 is not/);
});

test('a NUL is refused, and with it UTF-16 that does not say so', async () => {
  await assert.rejects(textOf([Buffer.from('ab\0')]), /byte 3 is a NUL/);
  await assert.rejects(textOf([Buffer.from('email', 'utf16le')]), /byte 2 is a NUL/);
  await assert.rejects(textOf([Buffer.from('\ufeffab\0', 'utf16le')]), /byte 7 is a NUL/);
});

test('UTF-16 with half a character is refused', async () => {
  const cut = Buffer.from('\ufeffab', 'utf16le').subarray(0, 5);
  await assert.rejects(textOf([cut]), /UTF-16, but byte 5 is not/);
  await assert.rejects(textOf([Buffer.from('\ufeffab\ud800c', 'utf16le')]), /UTF-16, but byte 7 is not/);
  await assert.rejects(textOf([Buffer.from('\ufeffa\ud800', 'utf16le')]), /UTF-16, but byte 5 is not/);
});

test('no piece is long', async () => {
  for await (const { text } of decode([Buffer.alloc(1_000_000, 0x61)]))
    assert.ok(text.length <= 16 * 1024 + 3);
});
