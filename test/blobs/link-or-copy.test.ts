/** Files get a second name where the file system allows that, and are copied where it does not. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { linkFile, linkOrCopy } from '../../src/blobs/files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const BYTES = 'the bytes of a message';

/** Returns a folder on another file system than that of the temporary directories; undefined when this machine has none. */
function folderElsewhere(): string | undefined {
  const device = statSync(temporaryDirectory('device')).dev;
  const cache = join(import.meta.dirname, '../../node_modules/.cache');
  const parent = [cache, '/dev/shm', '/var/tmp'].find(
    (path) => statSync(path, { throwIfNoEntry: false })?.dev !== device && isFolder(path),
  );
  return parent && mkdtempSync(join(parent, 'postrider-elsewhere-'));
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

test('a file on the same file system is linked', async () => {
  const folder = temporaryDirectory('links');
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  writeFileSync(from, BYTES);
  await linkOrCopy(from, to);
  assert.equal(statSync(to).ino, statSync(from).ino);
  await assert.rejects(linkOrCopy(from, to), { code: 'EEXIST' });
  await assert.rejects(linkOrCopy(join(folder, 'none'), join(folder, 'other')), { code: 'ENOENT' });
});

const elsewhere = folderElsewhere();
const skip = elsewhere === undefined && 'this machine has one file system alone';

test('a file on another file system (EXDEV) is copied, and replaces nothing', { skip }, async (t) => {
  t.after(() => rmSync(elsewhere ?? '', { recursive: true }));
  const from = join(elsewhere ?? '', 'from');
  writeFileSync(from, BYTES);
  const folder = temporaryDirectory('copies');
  const to = join(folder, 'to');
  await linkOrCopy(from, to);
  assert.equal(readFileSync(to, 'utf8'), BYTES);
  assert.notEqual(statSync(to).dev, statSync(from).dev);
  await assert.rejects(linkOrCopy(from, to), { code: 'EEXIST' });

  const sha256 = 'a'.repeat(64);
  await linkFile(folder, from, sha256);
  assert.equal(readFileSync(join(folder, 'aa', sha256), 'utf8'), BYTES);
});
