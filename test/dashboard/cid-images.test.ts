import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { withCidImages } from '../../src/dashboard/cid-images.ts';

const MIB = 1024 * 1024;
const image = (size: number) => ({ contentId: 'a', contentType: 'image/png', size, path: '/a' });
const apiOf = (size: number) => ({
  stream: async () => ({ bytes: Readable.from([Buffer.alloc(size)]), mediaType: 'image/png' }),
});
const tag = '<img src="cid:a">';

test('an image counts as often as it is named, so that a small mail does not become a page of gigabytes', async () => {
  const shown = await withCidImages(apiOf(MIB), tag.repeat(2), [image(MIB)]);
  assert.equal(shown.split('data:image/png;base64,').length - 1, 2);
  assert.equal(await withCidImages(apiOf(MIB), tag.repeat(3), [image(MIB)]), tag.repeat(3));
});
