import assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDirectories } from '../../src/system/make-directories.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('a directory is made with those above it and with the mode, and one that exists stays', () => {
  const root = temporaryDirectory('make-directories');
  const path = join(root, 'a', 'b', 'c');
  makeDirectories(path, 0o700);
  for (const directory of [join(root, 'a'), join(root, 'a', 'b'), path])
    assert.equal(statSync(directory).mode & 0o777, 0o700);
  mkdirSync(join(root, 'open'), { mode: 0o755 });
  makeDirectories(join(root, 'open'), 0o700);
  assert.equal(statSync(join(root, 'open')).mode & 0o777, 0o755);
});

test('a file system without new directories, and a file in the way, are errors', () => {
  assert.throws(() => makeDirectories('/proc/postrider/data'), { code: 'ENOENT', syscall: 'mkdir' });
  const file = join(temporaryDirectory('make-directories'), 'file');
  writeFileSync(file, '');
  assert.throws(() => makeDirectories(file), { code: 'EEXIST' });
  assert.throws(() => makeDirectories(join(file, 'below')), { code: 'ENOTDIR' });
});
