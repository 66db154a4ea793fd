import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathOfObject } from '../../src/objects/folder-layout.ts';
import { FolderStore } from '../../src/objects/folder-store.ts';
import { StoreError } from '../../src/objects/object-store.ts';
import { realClock } from '../../src/system/clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { readWhole, testContract } from './contract.ts';

function openFolder(): { root: string; store: FolderStore } {
  const root = temporaryDirectory('objects');
  return { root, store: new FolderStore({ clock: realClock }, root) };
}

testContract('folder', async () => {
  const { root, store } = openFolder();
  return {
    store,
    seed(name, bytes) {
      const file = join(root, pathOfObject(name));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes);
    },
  };
});

const BODY = { bytes: Buffer.from('x') };

test('an object that does not arrive whole leaves nothing behind, and the earlier one stays', async () => {
  const { root, store } = openFolder();
  await store.put('a1/b', { bytes: Buffer.from('earlier') });
  async function* broken() {
    yield Buffer.from('half');
    throw new Error('the connection ended');
  }
  await assert.rejects(store.receive('a1/b', broken()), /the connection ended/);
  assert.equal(String(await readWhole(store, 'a1/b')), 'earlier');
  assert.deepEqual(readdirSync(join(root, '.partial')), []);
});

test('what a crash left behind is removed once it is old', async () => {
  const { root, store } = openFolder();
  mkdirSync(join(root, '.partial'));
  for (const name of ['old', 'young']) writeFileSync(join(root, '.partial', name), 'half');
  const yesterday = Date.now() / 1_000 - 2 * 86_400;
  utimesSync(join(root, '.partial', 'old'), yesterday, yesterday);
  await store.put('a1/b', BODY);
  assert.deepEqual(readdirSync(join(root, '.partial')), ['young']);
  assert.deepEqual(await store.list(''), ['a1/b']);
});

test('files that others have placed in the folder are not listed', async () => {
  const { root, store } = openFolder();
  await store.put('a1/0000000001', BODY);
  for (const name of ['.hidden', 'lost file', 'a1/b c', 'a1/.b', 'a1/c+', 'a1/0000000+/d e', 'a1/é'])
    writeFileSync(join(root, name), 'x');
  assert.deepEqual(await store.list(''), ['a1/0000000001']);
});

test('a disk that is not mounted is unreachable, and its folder is not made', async () => {
  const { root, store } = openFolder();
  await store.put('a1/b', BODY);
  renameSync(root, `${root}-away`);
  for (const attempt of [
    () => store.put('a1/c', BODY),
    () => store.create('a1/c', BODY.bytes),
    () => store.get('a1/b'),
    () => store.list(''),
    () => store.remove('a1/b'),
  ])
    await assert.rejects(attempt, { name: 'StoreError', kind: 'unreachable', message: /is not there/ });
  assert.equal(existsSync(root), false);
  // Another disk, without the directories that the store has made.
  mkdirSync(root);
  await store.put('a1/b', BODY);
  assert.deepEqual(await store.list(''), ['a1/b']);
  rmSync(`${root}-away`, { recursive: true });
});

test('a directory that somebody removes is made again with the next attempt', async () => {
  const { root, store } = openFolder();
  await store.put('a1/b', BODY);
  rmSync(join(root, 'a1'), { recursive: true });
  await store.put('a1/c', BODY).catch((error: unknown) => {
    assert.ok(error instanceof StoreError && error.kind === 'unreachable');
    return store.put('a1/c', BODY);
  });
  assert.deepEqual(await store.list(''), ['a1/c']);
});

test('a folder that cannot be used is refused with a sentence', async () => {
  const { root, store } = openFolder();
  writeFileSync(join(root, 'file'), '');
  await assert.rejects(store.put('file/b', BODY), { kind: 'refused', message: /cannot be used/ });
  assert.equal(await store.get('file/b'), undefined);
  mkdirSync(join(root, 'a1'));
  await assert.rejects(store.put('a1', BODY), { kind: 'refused' });
  if (process.getuid?.() === 0) return;
  chmodSync(join(root, 'a1'), 0o500);
  await assert.rejects(store.put('a1/b', BODY), { kind: 'refused', message: /may not write/ });
});
