import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { applyPages } from '../../src/db/apply-pages.ts';
import { type CollectedPages, eachPage } from '../../src/db/changed-pages.ts';
import { markWithoutWal } from '../../src/db/copy-database.ts';
import { releasePages } from '../../src/db/free-pages.ts';
import type { BlobRow } from '../../src/db/tables.ts';
import { newId } from '../../src/system/ids.ts';
import { emptyKept, keepBlob } from '../blobs/operations.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';

const BLOB_BYTES = 250_000;

function blobOf(number: number): BlobRow {
  return {
    id: newId('blob', number),
    sha256: '',
    sizeBytes: BLOB_BYTES,
    eightBit: 0,
    data: randomBytes(BLOB_BYTES),
    createdAt: number,
  };
}

async function applyAll(file: string, collected: CollectedPages[]): Promise<void> {
  for (const pages of collected.splice(0)) {
    assert.ok(pages !== 'lost');
    if (pages) await applyPages(file, { ...pages, pages: eachPage(pages) });
  }
}

const operationsModule = new URL('../blobs/operations.ts', import.meta.url);

test('a copy of the main database follows it through many checkpoints', async (t) => {
  const db = await openTestDatabase(t, { operationsModule, readers: 0 });
  assert.equal(await db.collectPages(), 'lost');
  await db.followPages();
  const file = join(temporaryDirectory(), 'copy.db');
  const blobs: BlobRow[] = [];
  const add = (count: number) => {
    const added = Array.from({ length: count }, () => blobOf(blobs.length));
    blobs.push(...added);
    return Promise.all(added.map((blob) => db.commit(keepBlob, blob)));
  };
  await add(20);
  const collected: CollectedPages[] = [];
  const copying = db.copyTo(file);
  // The WAL is copied back each 64 blobs.
  for (let round = 0; round < 8; round++) {
    await add(24);
    if (round % 3 === 0) collected.push(await db.collectPages());
  }
  await copying;
  markWithoutWal(file);
  for (const { id } of blobs.slice(0, 100)) await db.commit(emptyKept, id);
  await db.commit(releasePages, { pages: 4_000 });
  collected.push(await db.collectPages());
  await applyAll(file, collected);
  const copy = new Sqlite(file, { readonly: true });
  assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok');
  const ids = copy.prepare<[], string>('SELECT id FROM blobs WHERE length(data) > 0').pluck().all();
  copy.close();
  assert.deepEqual(new Set(ids), new Set(blobs.slice(100).map(({ id }) => id)));

  assert.equal(await db.collectPages(), undefined);
  await add(1);
  await db.followPages();
  await add(1);
  assert.notEqual(await db.collectPages(), 'lost');
  await db.followPages(false);
  assert.equal(await db.collectPages(), 'lost');
});
