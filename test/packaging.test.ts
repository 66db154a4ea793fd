/** Packages have the files of the program, and none of whoever makes them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CONFIG_FILES, packedFiles } from '../packaging/tree.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '..');

test('a configuration that somebody has in config/ is not packed', () => {
  const checkout = temporaryDirectory('packaging');
  mkdirSync(join(checkout, 'config'));
  for (const name of ['postrider.yaml', 'secrets.env', 'replies.yaml'])
    writeFileSync(join(checkout, 'config', name), '');
  assert.deepEqual(packedFiles(checkout), [join('config', 'replies.yaml')]);
});

test('each file of config/ that is under version control is packed', {
  skip: !existsSync(join(ROOT, '.git')),
}, () => {
  const tracked = execFileSync('git', ['ls-files', 'config'], { cwd: ROOT, encoding: 'utf8' });
  assert.deepEqual(
    CONFIG_FILES.map((name) => `config/${name}`),
    tracked.trim().split('\n'),
  );
});
