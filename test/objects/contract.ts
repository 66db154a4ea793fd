/** The promises of `ObjectStore`, which every kind of store keeps. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MAX_LISTED, MAX_OBJECT_BYTES, type ObjectStore } from '../../src/objects/object-store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

export type OpenedStore = {
  store: ObjectStore;
  /** Places an object without the store. */
  seed(name: string, bytes: Buffer): void;
};

/** Opens a store that is empty. */
export type OpenStore = (context: TestContext) => Promise<OpenedStore>;

const NAMES = {
  hostile: [
    '',
    '/etc/passwd',
    '../escape',
    'a1/../../escape',
    'a1/./b',
    'a1//b',
    'a1/b/',
    'a1/.hidden',
    '.partial/a',
    'a1\\b',
    'a1/b\0c',
    'a1/b c',
    'a1/%2e%2e/b',
    'a1/b?x=1',
    'a1/b\n',
    `a1/${'x'.repeat(600)}`,
    `a1/${'x'.repeat(201)}`,
  ],
  /** In the order of their bytes, which differs from the order of paths part by part. */
  ordered: [
    'a1/b-c',
    'a1/b.c',
    'a1/b/0',
    'a1/b/1',
    'a1/b0',
    'a1/c/d/e',
    'a2/0000012',
    'a2/0000012-a',
    'a2/000001203',
    'a2/0000012034',
    'a2/0000012034.00001',
    'a2/0000012034/y',
    'a2/00000121',
    'a2/0000012999',
    'a2/0000012x',
    'a2/0000012y/z',
    'a2/0000013000',
    'a2/b',
  ],
};

/** Returns the bytes of an object; undefined when there is none. */
export async function readWhole(store: ObjectStore, name: string): Promise<Buffer | undefined> {
  const found = await store.get(name);
  if (!found) return undefined;
  const parts: Uint8Array[] = [];
  for await (const part of found) parts.push(part);
  return Buffer.concat(parts);
}

/** Returns all names of a prefix, page by page. */
async function listAll(store: ObjectStore, prefix: string): Promise<{ names: string[]; pages: number }> {
  const names: string[] = [];
  for (let pages = 0; ; pages++) {
    const page = await store.list(prefix, names.at(-1));
    assert.ok(page.length <= MAX_LISTED);
    if (page.length === 0) return { names, pages };
    names.push(...page);
  }
}

/** Runs the tests of a kind of store. `kind` begins their names. */
export function testContract(kind: string, open: OpenStore): void {
  test(`${kind}: an object is returned as it was stored, from memory and from a part of a file`, async (context) => {
    const { store } = await open(context);
    const large = Buffer.alloc(3 * 1024 * 1024 + 17, 'postrider ');
    const file = join(temporaryDirectory('body'), 'file');
    writeFileSync(file, large);
    await store.put('a1/whole', { file, start: 0, end: large.length });
    assert.ok((await readWhole(store, 'a1/whole'))?.equals(large));
    await store.put('a1/part', { file, start: 5, end: 1_000_005 });
    assert.ok((await readWhole(store, 'a1/part'))?.equals(large.subarray(5, 1_000_005)));
    await store.put('a1/part', { bytes: Buffer.from('shorter') });
    assert.equal(String(await readWhole(store, 'a1/part')), 'shorter');
    for (const body of [{ bytes: Buffer.alloc(0) }, { file, start: 9, end: 9 }]) {
      await store.put('a1/empty', body);
      assert.equal((await readWhole(store, 'a1/empty'))?.length, 0);
    }
    await assert.rejects(store.put('a1/x', { file, start: 0, end: MAX_OBJECT_BYTES + 1 }), /maximum/);
    await assert.rejects(store.put('a1/x', { file, start: 0, end: large.length + 1 }), /ends before/);
    await assert.rejects(store.put('a1/x', { file: `${file}x`, start: 0, end: 1 }), { code: 'ENOENT' });
    assert.equal(await store.get('a1/x'), undefined);
  });

  test(`${kind}: a reader may leave an object before its end`, async (context) => {
    const { store } = await open(context);
    await store.put('a1/b', { bytes: Buffer.alloc(1024 * 1024) });
    for await (const part of (await store.get('a1/b')) ?? []) {
      assert.ok(part.length > 0);
      break;
    }
    assert.equal((await readWhole(store, 'a1/b'))?.length, 1024 * 1024);
  });

  test(`${kind}: what was removed is gone, and removing it again is no error`, async (context) => {
    const { store } = await open(context);
    assert.equal(await store.get('a1/b/c'), undefined);
    await store.remove('a1/b/c');
    await store.put('a1/b/c', { bytes: Buffer.from('x') });
    await store.remove('a1/b/c');
    assert.equal(await store.get('a1/b/c'), undefined);
    assert.deepEqual(await store.list(''), []);
    await store.put('a1/b/c', { bytes: Buffer.from('y') });
    assert.equal(String(await readWhole(store, 'a1/b/c')), 'y');
  });

  test(`${kind}: names are listed in the order of their bytes, page by page`, async (context) => {
    const { store, seed } = await open(context);
    const many = Array.from({ length: 2 * MAX_LISTED + 3 }, (_, at) => `a3/${String(at).padStart(10, '0')}`);
    for (const name of [...NAMES.ordered, ...many]) seed(name, Buffer.from('x'));
    assert.deepEqual(await listAll(store, ''), { names: [...NAMES.ordered, ...many], pages: 3 });
    assert.deepEqual((await listAll(store, 'a3/')).names, many);
    assert.deepEqual(await store.list('a1/b/'), ['a1/b/0', 'a1/b/1']);
    assert.deepEqual(await store.list('a1/b', 'a1/b.c'), ['a1/b/0', 'a1/b/1', 'a1/b0']);
    assert.deepEqual(await store.list('a1', 'a1/b/0'), ['a1/b/1', 'a1/b0', 'a1/c/d/e']);
    assert.deepEqual(await store.list('a3/', many.at(-2)), many.slice(-1));
    assert.deepEqual(await store.list('a9'), []);
  });

  test(`${kind}: names that could lead elsewhere are refused before anything happens`, async (context) => {
    const { store } = await open(context);
    for (const name of NAMES.hostile) {
      const refused = /is not the name of an object/;
      await assert.rejects(store.put(name, { bytes: Buffer.from('x') }), refused, JSON.stringify(name));
      await assert.rejects(store.create(name, Buffer.from('x')), refused);
      await assert.rejects(store.get(name), refused);
      await assert.rejects(store.remove(name), refused);
    }
    for (const prefix of ['../', '/', 'a1/../', 'a1/.', 'a 1', 'a1//', 'x'.repeat(600)])
      await assert.rejects(store.list(prefix), /does not begin a name/, prefix);
    assert.deepEqual(await store.list(''), []);
  });

  test(`${kind}: of those who create an object at the same time, exactly one succeeds`, async (context) => {
    const { store } = await open(context);
    const claims = Array.from({ length: 8 }, (_, at) => Buffer.from(`host ${at}`));
    const won = await Promise.all(claims.map((bytes) => store.create('a1/owner/0000000001', bytes)));
    assert.equal(won.filter(Boolean).length, 1);
    const winner = claims[won.indexOf(true)] ?? Buffer.alloc(0);
    assert.deepEqual(await readWhole(store, 'a1/owner/0000000001'), winner);
    assert.equal(await store.create('a1/owner/0000000001', Buffer.from('late')), false);
    assert.deepEqual(await readWhole(store, 'a1/owner/0000000001'), winner);
    assert.equal(await store.create('a1/owner/0000000002', Buffer.from('next')), true);
  });
}
