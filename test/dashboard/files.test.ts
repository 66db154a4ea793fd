/** The files that browsers load. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { AssetName } from '../../src/dashboard/frame/asset-names.ts';
import { compileAsset } from '../../src/dashboard/frame/compile-assets.ts';

/** Maximum sizes of what kinds of pages load, compressed, in bytes: people wait for it on slow lines. */
const MAX_BYTES = { page: 30_000, withIsland: 40_000, withChart: 60_000 };
const PAGE: readonly AssetName[] = ['page.css', 'page.js'];

async function sizeOf(names: readonly AssetName[]): Promise<number> {
  const sizes = await Promise.all(names.map(async (name) => gzipSync(await compileAsset(name)).length));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('the files of a page stay small, those of one that is live or has passkeys or charts too', async () => {
  const sizes = {
    page: await sizeOf(PAGE),
    withIsland: await sizeOf([...PAGE, 'live.js', 'passkeys.js']),
    withChart: await sizeOf([...PAGE, 'live.js', 'chart.js', 'chart.css']),
  };
  assert.ok(sizes.page > 10_000, 'the files were read');
  for (const kind of ['page', 'withIsland', 'withChart'] as const)
    assert.ok(sizes[kind] <= MAX_BYTES[kind], `${kind}: ${sizes[kind]} of ${MAX_BYTES[kind]} bytes`);
});
