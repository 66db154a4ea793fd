import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Blobs, INLINE_BYTES, openBlobs } from '../../src/blobs/blobs.ts';
import { mainOwner } from '../../src/blobs/owner.ts';
import { createBlobSweep } from '../../src/blobs/worker.ts';
import type { Db } from '../../src/db/database.ts';
import type { BlobRow } from '../../src/db/tables.ts';
import { createLog } from '../../src/system/log.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { openTestDatabase, temporaryDirectory } from '../db/open.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { keepBlob } from './operations.ts';

const NOW = Date.UTC(2030, 0, 1);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let db: Db;
before(async () => {
  const operationsModule = new URL('./operations.ts', import.meta.url);
  db = await openTestDatabase({ after() {} }, { operationsModule, readers: 0 });
});
after(() => db.close());

type Opened = { blobs: Blobs; clock: FakeClock; root: string };

function open(dataDir = temporaryDirectory(), keepFilesUntil: number | null = null): Opened {
  const clock = createFakeClock(NOW);
  const owner = { ...mainOwner(db, dataDir), keepFilesUntil };
  return {
    clock,
    blobs: openBlobs({ clock, log: createLog('silent'), disk: { reportFull() {} } }, owner),
    root: join(dataDir, 'blobs'),
  };
}

/** Adds complete files, two hours old, that no row names. */
function addUnnamed(root: string, count: number): string[] {
  return Array.from({ length: count }, () => {
    const bytes = randomUUID();
    const name = createHash('sha256').update(bytes).digest('hex');
    mkdirSync(join(root, name.slice(0, 2)), { recursive: true });
    const path = join(root, name.slice(0, 2), name);
    writeFileSync(path, bytes);
    setAge(path, 2 * HOUR_MS);
    return name;
  });
}

/** Adds such files, and a row that names each. */
async function addNamed(root: string, count: number): Promise<void> {
  const names = addUnnamed(root, count);
  await Promise.all(names.map((sha256) => db.commit(keepBlob, rowOf(sha256))));
}

function rowOf(sha256: string): BlobRow {
  return { id: `blob_${randomUUID()}`, sha256, sizeBytes: 36, eightBit: 0, data: null, createdAt: NOW };
}

function setAge(path: string, ageMs: number): void {
  utimesSync(path, (NOW - ageMs) / 1_000, (NOW - ageMs) / 1_000);
}

function inTrash(root: string): string[] {
  const folder = join(root, 'trash');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

test('a file that no row names goes to the trash, and is removed from there after a week', async () => {
  const { blobs, clock, root } = open();
  await addNamed(root, 3);
  const [name = ''] = addUnnamed(root, 1);
  assert.deepEqual(await blobs.sweep(), { moved: 1, restored: 0, removed: 0, stopped: undefined });
  assert.deepEqual(inTrash(root), [name]);
  await clock.advance(7 * DAY_MS);
  assert.equal((await blobs.sweep()).removed, 0);
  await clock.advance(1_000);
  assert.equal((await blobs.sweep()).removed, 1);
  assert.deepEqual(inTrash(root), []);
});

test('a file in the trash that a row names again is restored when it is read, and at the next sweep', async () => {
  const { blobs, clock, root } = open();
  const [read = '', unread = ''] = addUnnamed(root, 2).sort();
  assert.equal((await blobs.sweep()).moved, 2);
  const [one, other] = [rowOf(read), rowOf(unread)];
  await db.commit(keepBlob, one);
  await db.commit(keepBlob, other);
  const content = await blobs.open(one.id);
  assert.equal((await content.head(36)).length, 36);
  assert.deepEqual(inTrash(root), [unread]);
  // A file that a row names is never removed, however old it is.
  await clock.advance(30 * DAY_MS);
  assert.deepEqual(await blobs.sweep(), { moved: 0, restored: 1, removed: 0, stopped: undefined });
  assert.ok(existsSync(join(root, unread.slice(0, 2), unread)));
  await blobs.open(other.id);
});

test('many concurrent readers of a file in the trash all get it', async () => {
  const { blobs, root } = open();
  const [name = ''] = addUnnamed(root, 1);
  assert.equal((await blobs.sweep()).moved, 1);
  const row = rowOf(name);
  await db.commit(keepBlob, row);
  const opened = await Promise.all([1, 2, 3, 4].map(() => blobs.open(row.id)));
  assert.deepEqual(
    opened.map(({ sizeBytes }) => sizeBytes),
    [36, 36, 36, 36],
  );
});

test('a sweep that would move more than ten files and more than 5 % moves none, and reports that', async () => {
  const { blobs, root } = open();
  await addNamed(root, 30);
  const unnamed = addUnnamed(root, 11);
  const [first = ''] = unnamed;
  assert.deepEqual((await blobs.sweep()).stopped, { unnamed: 11, files: 41 });
  assert.deepEqual(inTrash(root), []);
  rmSync(join(root, first.slice(0, 2), first));
  assert.equal((await blobs.sweep()).moved, 10);
});

test('files of killed requests are swept, however many there are', async () => {
  const { clock, root } = open();
  await addNamed(root, 30);
  addUnnamed(root, 20);
  const sweep = (from: number, to: number) => {
    const uses = [{ from: NOW - from, to: NOW - to }];
    const owner = { ...mainOwner(db, dirname(root)), uses };
    return openBlobs({ clock, log: createLog('silent'), disk: { reportFull() {} } }, owner).sweep();
  };
  assert.deepEqual((await sweep(HOUR_MS, 0)).stopped, { unnamed: 20, files: 50 });
  assert.deepEqual((await sweep(4 * HOUR_MS, 3 * HOUR_MS)).stopped, { unnamed: 20, files: 50 });
  assert.equal((await sweep(3 * HOUR_MS, HOUR_MS)).moved, 20);
});

test('a sweep moves 5 % of many files; a sweep by the operator moves more', async () => {
  const { blobs, root } = open();
  await addNamed(root, 228);
  addUnnamed(root, 12);
  assert.equal((await blobs.sweep()).moved, 12);
  addUnnamed(root, 13);
  assert.deepEqual((await blobs.sweep()).stopped, { unnamed: 13, files: 241 });
  assert.equal((await blobs.sweep({ forced: true })).moved, 13);
});

test('while the database may be the wrong one no file is moved or removed, and named files are restored', async () => {
  const dataDir = temporaryDirectory();
  const earlier = open(dataDir);
  const [name = ''] = addUnnamed(earlier.root, 2);
  assert.equal((await earlier.blobs.sweep()).moved, 2);
  addUnnamed(earlier.root, 1);
  await db.commit(keepBlob, rowOf(name));
  const { blobs, clock, root } = open(dataDir, NOW + 10 * DAY_MS);
  await clock.advance(9 * DAY_MS);
  assert.deepEqual(await blobs.sweep(), { moved: 0, restored: 1, removed: 0, stopped: undefined });
  assert.equal(inTrash(root).length, 1);
  await clock.advance(DAY_MS);
  assert.deepEqual(await blobs.sweep(), { moved: 1, restored: 0, removed: 1, stopped: undefined });
});

test('old partly written files are removed, however many there are', async () => {
  const { blobs, root } = open();
  mkdirSync(join(root, 'partial'), { recursive: true });
  for (let index = 0; index < 20; index++) {
    const path = join(root, 'partial', String(index));
    writeFileSync(path, 'half');
    setAge(path, index < 19 ? HOUR_MS + 1_000 : HOUR_MS - 1_000);
  }
  assert.equal((await blobs.sweep()).stopped, undefined);
  assert.deepEqual(readdirSync(join(root, 'partial')), ['19']);
  assert.equal(readFileSync(join(root, 'partial', '19'), 'utf8'), 'half');
});

test('a large message that a sweep moved to the trash can be read again', async () => {
  const { blobs, clock, root } = open();
  const row = await blobs.prepare([Buffer.alloc(INLINE_BYTES + 1, 1)]);
  setAge(join(root, row.sha256.slice(0, 2), row.sha256), DAY_MS);
  await clock.advance(2 * HOUR_MS);
  assert.equal((await blobs.sweep()).moved, 1);
  await db.commit(keepBlob, row);
  assert.equal((await blobs.open(row.id)).sizeBytes, INLINE_BYTES + 1);
  assert.equal(statSync(join(root, row.sha256.slice(0, 2), row.sha256)).size, INLINE_BYTES + 1);
});

test('the work logs and counts the files that it moves, and logs nothing when there are none', async () => {
  const { blobs, clock, root } = open();
  const lines: string[] = [];
  const line = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${JSON.stringify(fields)} ${message}`);
  const log = { info: line('info'), warn: line('warn'), error: line('error') };
  const metrics = createMetrics(clock);
  const work = createBlobSweep({ clock, blobs, log, metrics } as unknown as Parameters<
    typeof createBlobSweep
  >[0]);
  await addNamed(root, 3);
  await work.run('run');
  assert.deepEqual(lines, []);
  addUnnamed(root, 2);
  await work.run('run');
  assert.match(lines.join(), /^info \{"moved":2,"removed":0\} /);
  addUnnamed(root, 11);
  await work.run('run');
  assert.match(
    lines.at(-1) ?? '',
    /^error \{"unnamed":11,"files":14\} no file was swept: .+postrider blobs sweep/,
  );
  const { text } = await metrics.show();
  assert.match(text, /^postrider_blob_files_trashed_total 2$/m);
  assert.match(text, /^postrider_blob_sweeps_stopped_total 1$/m);
});
