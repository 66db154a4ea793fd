/** Images of logos are read in a thread, within limits, and written anew. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLogoReader, MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from '../../src/branding/logo/reader.ts';
import { readImageSize } from '../../src/branding/logo/size.ts';
import type { Log } from '../../src/system/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { GIF, jpeg, png, sizeOfPng, webp } from './images.ts';

const log = { info() {} } as unknown as Log;
const reader = createLogoReader({ clock: createFakeClock(0), log });

test('PNG, JPEG, WebP and GIF become a PNG, and large ones a small one of the same shape', async () => {
  for (const [image, size] of [
    [png(60, 20), [60, 20]],
    [jpeg(960, 160), [480, 80]],
    [webp(100, 1_600), [10, 160]],
    [GIF, [1, 1]],
    [png(2_000, 1), [480, 1]],
  ] as const) {
    const logo = await reader.read(image, 'ten_1');
    assert.deepEqual([logo.width, logo.height], size);
    assert.deepEqual(sizeOfPng(Buffer.from(logo.png)), size);
  }
});

test('nothing of the file but its pixels is kept', async () => {
  const image = Buffer.concat([png(4, 4), Buffer.from('<script>alert(1)</script>')]);
  const { png: written } = await reader.read(image, 'ten_1');
  assert.ok(!Buffer.from(written).includes('script'));
});

test('what is no image, too large, or has too many pixels is refused', async () => {
  const huge = png(1, 1);
  huge.writeUInt32BE(MAX_IMAGE_PIXELS, 16);
  huge.writeUInt32BE(2, 20);
  const cut = png(300, 300).subarray(0, 60);
  for (const [image, pattern] of [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /must be a PNG, JPEG, GIF or still WebP/],
    [Buffer.from('BM'.padEnd(100, '\0')), /must be a PNG/],
    [Buffer.alloc(0), /must be a PNG/],
    [cut, /must be a PNG/],
    [Buffer.concat([png(1, 1), Buffer.alloc(MAX_IMAGE_BYTES)]), /at most 1 MiB/],
    [huge, /4000000 × 2 pixels; at most 4000000 are allowed/],
  ] as const)
    await assert.rejects(reader.read(image, 'ten_1'), pattern);
  assert.equal((await reader.read(GIF, 'ten_1')).width, 1, 'the next image is read');
});

test('a tenant has one image read at a time, and another tenant waits for its turn only', async () => {
  const [first, second, other] = await Promise.allSettled([
    reader.read(png(50, 50), 'ten_1'),
    reader.read(png(50, 50), 'ten_1'),
    reader.read(png(50, 50), 'ten_2'),
  ]);
  assert.deepEqual([first?.status, other?.status], ['fulfilled', 'fulfilled']);
  assert.ok(second?.status === 'rejected' && second.reason.code === 'unavailable');
});

test('the largest size that a file names counts', () => {
  const withSecondFrame = Buffer.concat([
    jpeg(10, 10),
    Buffer.from([0xff, 0xc2, 0, 11, 8, 0x40, 0, 0x40, 0, 1, 1, 0x11, 0]),
  ]);
  assert.deepEqual(readImageSize(withSecondFrame), { width: 0x4000, height: 0x4000 });
  const vp8x = Buffer.from('VP8X\x0a\0\0\0\0\0\0\0\x02\0\0\x02\0\0', 'latin1');
  const still = webp(70, 30);
  const extended = Buffer.concat([still.subarray(0, 12), vp8x, still.subarray(12)]);
  assert.deepEqual(readImageSize(still), { width: 70, height: 30 });
  assert.deepEqual(readImageSize(extended), { width: 70, height: 30 });
  const animation = Buffer.concat([extended, Buffer.from('ANIM\x06\0\0\0\0\0\0\0\0\0', 'latin1')]);
  assert.equal(readImageSize(animation), undefined);
});

test('whatever the bytes are, the size is found or not, in bounded time', () => {
  const starts = [png(1, 1), jpeg(8, 8), webp(8, 8), GIF].map((image) => fc.constant(image));
  const bytes = fc.tuple(fc.oneof(...starts), fc.uint8Array({ maxLength: 300 }), fc.nat(60));
  fc.assert(
    fc.property(bytes, ([start, rest, cut]) => {
      const size = readImageSize(Buffer.concat([start.subarray(0, cut), rest]));
      assert.ok(size === undefined || Number.isInteger(size.width * size.height));
    }),
  );
});
