import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { CHECKPOINT_PAGES, openWriting } from '../../src/db/connection.ts';
import { CopyPace, copyDatabase, markWithoutWal } from '../../src/db/copy-database.ts';
import type { BlobRow } from '../../src/db/tables.ts';
import { newId } from '../../src/system/ids.ts';
import { keepBlob } from '../blobs/operations.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';

const PAGE_BYTES = 4_096;
const BLOB_BYTES = 200_000;

function blobOf(number: number): BlobRow {
  const data = Buffer.alloc(BLOB_BYTES, `${number} `);
  return {
    id: newId('blob', number),
    sha256: '',
    sizeBytes: BLOB_BYTES,
    eightBit: 0,
    data,
    createdAt: number,
  };
}

const operationsModule = new URL('../blobs/operations.ts', import.meta.url);

test('a copy that is made while rows are written has a state of that time, and the WAL stays short', async (t) => {
  const directory = newDataDirectory();
  const db = await openTestDatabase(t, { operationsModule, readers: 0, directory });
  let written = 0;
  const write = () => db.commit(keepBlob, blobOf(++written));
  for (let count = 0; count < 200; count++) await write();
  const file = join(temporaryDirectory(), 'copy.db');
  let isCopying = true;
  let longest = 0;
  const copying = db.copyTo(file).finally(() => {
    isCopying = false;
  });
  const before = written;
  while (isCopying) {
    await write();
    longest = Math.max(longest, statSync(join(directory, 'postrider.db-wal')).size);
  }
  await copying;
  assert.ok(written > before + 1, `${written - before} rows were written meanwhile`);
  assert.ok(longest < 2 * CHECKPOINT_PAGES * PAGE_BYTES, `the WAL has grown to ${longest} bytes`);
  markWithoutWal(file);
  const copy = new Sqlite(file, { readonly: true });
  t.after(() => copy.close());
  assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok');
  const rows = copy.prepare<[], number>('SELECT count(*) FROM blobs').pluck().get() ?? 0;
  assert.ok(rows >= before && rows <= written, `${rows} rows, of ${before} before and ${written} after`);
});

test('a database that becomes smaller while it is copied ends before the copy does', async () => {
  const database = openWriting(join(temporaryDirectory(), 'original.db'), 'NORMAL');
  database.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
  const insert = database.prepare('INSERT INTO rows VALUES (?, ?)');
  for (let id = 0; id < 200; id++) insert.run(id, 'x'.repeat(PAGE_BYTES));
  const file = join(temporaryDirectory(), 'copy.db');
  const pace = new CopyPace();
  pace.next = (writtenPages) => {
    if (writtenPages >= 100) database.exec('DELETE FROM rows WHERE id > 9; PRAGMA incremental_vacuum(1000)');
    return 10;
  };
  await copyDatabase(database, file, pace);
  database.close();
  markWithoutWal(file);
  const copy = new Sqlite(file, { readonly: true });
  assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok');
  assert.equal(copy.prepare('SELECT count(*) FROM rows').pluck().get(), 10);
  assert.ok(statSync(file).size < 50 * PAGE_BYTES);
  copy.close();
});

test('a copy that cannot be written fails, and the database goes on', async (t) => {
  const db = await openTestDatabase(t, { operationsModule, readers: 0 });
  await assert.rejects(db.copyTo(join(temporaryDirectory(), 'missing', 'copy.db')));
  const other = join(temporaryDirectory(), 'copy.db');
  writeFileSync(other, 'this is no database, and a copy does not replace it');
  await assert.rejects(db.copyTo(other));
  await db.commit(keepBlob, blobOf(1));
  await db.copyTo(join(temporaryDirectory(), 'copy.db'));
});

test('a database that is closed ends its copy with an error', async (t) => {
  const db = await openTestDatabase(t, { operationsModule, readers: 0 });
  for (let count = 0; count < 200; count++) await db.commit(keepBlob, blobOf(count));
  const file = join(temporaryDirectory(), 'copy.db');
  const copying = assert.rejects(db.copyTo(file));
  await db.close();
  await copying;
  await assert.rejects(db.copyTo(`${file}2`), /closing/);
});

test('a copy is read without a WAL, and leaves no file beside it', async (t) => {
  const db = await openTestDatabase(t, { operationsModule, readers: 0 });
  const file = join(temporaryDirectory(), 'copy.db');
  await db.copyTo(file);
  assert.deepEqual([...readFileSync(file).subarray(18, 20)], [2, 2]);
  markWithoutWal(file);
  assert.deepEqual([...readFileSync(file).subarray(18, 20)], [1, 1]);
});
