import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { DamagedBlobError } from '../../../src/blobs/damaged.ts';
import { createPacking, packSmall, unpackSource } from '../../../src/queue/contents/source.ts';

/** Returns a text of two letters in no order, in which every place has hundreds of short repetitions behind it. */
function twoLetters(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) & 1 ? 'a' : 'b';
  }).join('');
}

test('a source is packed with the origin of its generated text, and without the text itself', async () => {
  const html = '<p>Hello</p>';
  const generated = { method: 'layout', bytes: 5, hash: 'h'.repeat(22) } as const;
  const source = { html, generated, files: ['attachment'] } as const;
  const packed = packSmall(source);
  const first = JSON.stringify({ html: html.length, generated, files: ['attachment'] });
  assert.equal(inflateRawSync(packed.source).toString(), `${first}\n${html}`);
  assert.deepEqual(await unpackSource(packed), source);
});

test('a source of an earlier version, with its generated text, is read as it was stored', async () => {
  const bytes = Buffer.from('{"html":14,"text":7,"files":["inline"]}\n<p>Zürich</p>Zürich');
  const source = deflateRawSync(bytes, { level: 6 });
  const sha256 = hash('sha256', source, 'buffer');
  assert.deepEqual(await unpackSource({ sizeBytes: bytes.length, sha256, source }), {
    html: '<p>Zürich</p>',
    text: 'Zürich',
    files: ['inline'],
  });
});

test('the writer searches a small text only briefly for repetitions, whatever the text is', async () => {
  const text = twoLetters(16_000);
  const packed = packSmall({ text });
  const searched = deflateRawSync(inflateRawSync(packed.source), { level: 5, windowBits: 14, memLevel: 6 });
  assert.ok(
    packed.source.length > searched.length,
    `a long search makes ${searched.length} bytes of it, and ${packed.source.length} were made`,
  );
  assert.deepEqual(await unpackSource(packed), { text });
});

test('a write packs few small texts itself, and the thread pool the rest and all large ones', async () => {
  const pack = createPacking();
  const text = twoLetters(16_000);
  const sources = [];
  for (let count = 0; count < 100; count++) sources.push(await pack({ text }));
  const left = sources.filter((source) => !('source' in source));
  assert.equal(left.length, 16);
  assert.deepEqual(sources.slice(0, 16), left, 'the first texts are left to the write');
  for (const source of sources) assert.deepEqual(await unpackSource(packSmall(source)), { text });
  assert.ok('source' in (await createPacking()({ text: twoLetters(16 * 1024) })));
});

test('a source whose stored size is damaged is reported as damaged, and takes no memory for it', async () => {
  for (const text of ['words', 'many words '.repeat(5_000)]) {
    const source = packSmall({ text });
    assert.deepEqual(await unpackSource(source), { text });
    const { sizeBytes } = source;
    for (const damaged of [
      sizeBytes - 1,
      sizeBytes + 1,
      sizeBytes * 2,
      0,
      -1,
      1.5 * sizeBytes + 0.5,
      2 ** 31,
      2 ** 40,
      2 ** 53,
    ])
      await assert.rejects(
        unpackSource({ ...source, sizeBytes: damaged }),
        DamagedBlobError,
        String(damaged),
      );
  }
});
