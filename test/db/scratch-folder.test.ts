import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { openScratchFolder } from '../../src/db/scratch-folder.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('a scratch folder is removed with all that is in it', async () => {
  const parent = temporaryDirectory('scratch');
  {
    await using scratch = await openScratchFolder(parent);
    writeFileSync(join(scratch.path, 'note'), 'text');
  }
  assert.deepEqual(readdirSync(parent), []);
});

test('a folder that a killed process has left is removed by the next one, and one in use stays', async () => {
  const parent = temporaryDirectory('scratch');
  mkdirSync(join(parent, 'scratch-left', 'files'), { recursive: true });
  await using first = await openScratchFolder(parent);
  await using second = await openScratchFolder(parent);
  assert.ok(existsSync(first.path));
  assert.deepEqual(
    readdirSync(parent).sort(),
    [first, second].map(({ path }) => dirname(path).slice(parent.length + 1)).sort(),
  );
});
