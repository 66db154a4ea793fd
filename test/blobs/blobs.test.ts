import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { INLINE_BYTES, openBlobs } from '../../src/blobs/blobs.ts';
import type { Db } from '../../src/db/database.ts';
import { newId } from '../../src/system/ids.ts';
import { openTestDatabase, temporaryDirectory } from '../db/open.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { keepBlob } from './operations.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2030, 0, 1);

let db: Db;
before(async () => {
  const operationsModule = new URL('./operations.ts', import.meta.url);
  db = await openTestDatabase({ after() {} }, { operationsModule, readers: 0 });
});
after(() => db.close());

function open(dataDir = temporaryDirectory()) {
  const clock = createFakeClock(NOW);
  return { blobs: openBlobs({ clock }, db, dataDir), clock, dataDir };
}

/** Every file below `blobs/`, from there. */
function files(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'blobs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(dataDir, 'blobs', path)).isFile())
    .sort();
}

function setAge(dataDir: string, file: string, ageMs: number): void {
  const seconds = (NOW - ageMs) / 1_000;
  utimesSync(join(dataDir, 'blobs', file), seconds, seconds);
}

function large(fill: number): Buffer {
  return Buffer.alloc(INLINE_BYTES + 1, fill);
}

test('small bytes travel in the row, and no file is made', async () => {
  const { blobs, dataDir } = open();
  const bytes = Buffer.alloc(INLINE_BYTES, 3);
  const row = await blobs.prepare(bytes);
  assert.ok(row.data !== null);
  assert.equal(row.sizeBytes, INLINE_BYTES);
  assert.equal(row.createdAt, NOW);
  assert.throws(() => files(dataDir), /ENOENT/);
  await db.commit(keepBlob, row);
  assert.deepEqual(await blobs.read(row.id), bytes);
});

test('one byte more is a file named by its hash, for nobody else to read', async () => {
  const { blobs, dataDir } = open();
  const row = await blobs.prepare(large(3));
  const sha256 = createHash('sha256').update(large(3)).digest('hex');
  assert.equal(row.data, null);
  assert.equal(row.sha256, sha256);
  const path = `${sha256.slice(0, 2)}/${sha256}`;
  assert.deepEqual(files(dataDir), [path]);
  assert.equal(statSync(join(dataDir, 'blobs', path)).mode & 0o777, 0o600);
  await db.commit(keepBlob, row);
  assert.deepEqual(await blobs.read(row.id), large(3));
});

test('no bytes at all are bytes too', async () => {
  const { blobs } = open();
  const row = await blobs.prepare(Buffer.alloc(0));
  await db.commit(keepBlob, row);
  assert.equal((await blobs.read(row.id)).length, 0);
});

test('the same bytes twice are two blobs and one file', async () => {
  const { blobs, dataDir } = open();
  const [one, other] = await Promise.all([blobs.prepare(large(4)), blobs.prepare(large(4))]);
  assert.notEqual(one.id, other.id);
  assert.equal(files(dataDir).length, 1);
  for (const row of [one, other]) await db.commit(keepBlob, row);
  assert.deepEqual(await blobs.read(other.id), large(4));
});

test('a blob that does not exist, or lost its file, is an error and never empty', async () => {
  const { blobs, dataDir } = open();
  await assert.rejects(blobs.read(newId('blob', NOW)), /does not exist/);
  const row = await blobs.prepare(large(5));
  await db.commit(keepBlob, row);
  renameSync(join(dataDir, 'blobs'), join(dataDir, 'elsewhere'));
  await assert.rejects(blobs.read(row.id), /ENOENT/);
});

test('a file that a crash left half written is never read, and is swept when it is old', async () => {
  const { blobs, dataDir } = open();
  const row = await blobs.prepare(large(6));
  await db.commit(keepBlob, row);
  const [path = ''] = files(dataDir);
  const torn = `${path}.4f9c`;
  writeFileSync(join(dataDir, 'blobs', torn), 'half');
  assert.deepEqual(await blobs.read(row.id), large(6));
  setAge(dataDir, torn, HOUR_MS - 1_000);
  assert.equal(await blobs.sweep(), 0);
  setAge(dataDir, torn, HOUR_MS + 1_000);
  assert.equal(await blobs.sweep(), 1);
  assert.deepEqual(files(dataDir), [path]);
});

test('the sweep keeps what a row names, however old, and takes what none does', async () => {
  const dataDir = temporaryDirectory();
  const earlier = open(dataDir).blobs;
  const used = await earlier.prepare(large(7));
  await db.commit(keepBlob, used);
  const unused = await earlier.prepare(large(8));
  for (const path of files(dataDir)) setAge(dataDir, path, 100 * HOUR_MS);
  assert.equal(await open(dataDir).blobs.sweep(), 1);
  assert.deepEqual(
    files(dataDir).map((path) => path.slice(3)),
    [used.sha256],
  );
  assert.notEqual(unused.sha256, used.sha256);
});

test('an old file that is prepared again is kept for the commit that may follow', async () => {
  const { blobs, clock, dataDir } = open();
  const row = await blobs.prepare(large(9));
  const [path = ''] = files(dataDir);
  setAge(dataDir, path, 100 * HOUR_MS);
  assert.equal(await blobs.sweep(), 0);
  await clock.advance(2 * HOUR_MS);
  assert.equal(await blobs.sweep(), 1);
  assert.equal(row.data, null);
});

test('sweeping before anything was stored finds nothing', async () => {
  assert.equal(await open().blobs.sweep(), 0);
});
