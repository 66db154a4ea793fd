import assert from 'node:assert/strict';
import { createHash, Hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { type Blobs, INLINE_BYTES, memoryOf, openBlobs } from '../../src/blobs/blobs.ts';
import { DamagedBlobError } from '../../src/blobs/damaged.ts';
import { mainOwner } from '../../src/blobs/owner.ts';
import type { Db } from '../../src/db/database.ts';
import type { BlobRow } from '../../src/db/tables.ts';
import { AppError } from '../../src/system/errors.ts';
import { newId } from '../../src/system/ids.ts';
import { openTestDatabase, temporaryDirectory } from '../db/open.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { emptyKept, keepBlob } from './operations.ts';

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
  const full = { count: 0 };
  const logged: string[] = [];
  const log = pino({ level: 'error', base: null }, { write: (line) => void logged.push(line) });
  const disk = { reportFull: () => void full.count++ };
  const blobs = openBlobs({ clock, log, disk }, mainOwner(db, dataDir));
  return { blobs, clock, dataDir, system: { log, disk }, logged, full };
}

/** Lists every file below `blobs/` except those in the trash. */
function files(dataDir: string, folder = 'blobs'): string[] {
  return readdirSync(join(dataDir, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('trash') && statSync(join(dataDir, folder, path)).isFile())
    .sort();
}

function setAge(dataDir: string, file: string, ageMs: number): void {
  const seconds = (NOW - ageMs) / 1_000;
  utimesSync(join(dataDir, 'blobs', file), seconds, seconds);
}

async function readAll(blobs: Blobs, id: BlobRow['id']): Promise<Buffer> {
  return Buffer.concat(await collect((await blobs.open(id)).chunks()));
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return pieces;
}

/** Descriptors of this process that stand for files below `dataDir`. */
function openFiles(dataDir: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(dataDir) ? [path] : [];
    } catch {
      return [];
    }
  });
}

function large(fill: number): Buffer {
  return Buffer.alloc(INLINE_BYTES + 1, fill);
}

test('only large bytes in memory of their own may be given away', async () => {
  const { blobs } = open();
  const size = 16 * 1024;
  const row = await blobs.prepare([Buffer.alloc(size - 1, 'a'), Buffer.from('b')]);
  assert.deepEqual(memoryOf(row), [row.data?.buffer]);
  assert.deepEqual(memoryOf(await blobs.prepare([Buffer.alloc(size - 1)])), []);
  assert.deepEqual(memoryOf({ ...row, data: Buffer.alloc(2 * size).subarray(size) }), []);
  assert.deepEqual(memoryOf({ ...row, data: null }), []);
});

test('small bytes travel in the row, and no file is made', async () => {
  const { blobs, dataDir } = open();
  const bytes = Buffer.alloc(INLINE_BYTES, 3);
  const row = await blobs.prepare([bytes]);
  assert.ok(row.data !== null);
  assert.equal(row.sizeBytes, INLINE_BYTES);
  assert.equal(row.createdAt, NOW);
  assert.throws(() => files(dataDir), /ENOENT/);
  await db.commit(keepBlob, row);
  assert.deepEqual(await readAll(blobs, row.id), bytes);
});

test('bytes too large for the row are a file named by its hash, for nobody else to read', async () => {
  const { blobs, dataDir } = open();
  const row = await blobs.prepare([large(3)]);
  const sha256 = createHash('sha256').update(large(3)).digest('hex');
  assert.equal(row.data, null);
  assert.equal(row.sha256, sha256);
  const path = `${sha256.slice(0, 2)}/${sha256}`;
  assert.deepEqual(files(dataDir), [path]);
  assert.equal(statSync(join(dataDir, 'blobs', path)).mode & 0o777, 0o600);
  for (const folder of ['.', 'partial', dirname(path)]) {
    assert.equal(statSync(join(dataDir, 'blobs', folder)).mode & 0o777, 0o700, folder);
  }
  await db.commit(keepBlob, row);
  assert.deepEqual(await readAll(blobs, row.id), large(3));
});

test('no bytes at all are bytes too', async () => {
  const { blobs } = open();
  const row = await blobs.prepare([Buffer.alloc(0)]);
  await db.commit(keepBlob, row);
  assert.equal((await readAll(blobs, row.id)).length, 0);
});

test('pieces cut anywhere are the same blob, small and large, iterated either way', async () => {
  const { blobs } = open();
  const lengths = fc.array(fc.constantFrom(0, 1, 77, 4_096, 65_536, 159_744, 300_000), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(lengths, fc.boolean(), async (cuts, isAsync) => {
      const pieces = cuts.map((length, index) => Buffer.alloc(length, 65 + index));
      const bytes = Buffer.concat(pieces);
      const row = await blobs.prepare(isAsync ? asyncly(pieces) : pieces);
      assert.equal(row.sizeBytes, bytes.length);
      assert.equal(row.sha256, createHash('sha256').update(bytes).digest('hex'));
      assert.equal(row.data === null, bytes.length > INLINE_BYTES);
      await db.commit(keepBlob, row);
      const content = await blobs.open(row.id);
      assert.equal(content.sizeBytes, bytes.length);
      assert.deepEqual(content.inline, row.data === null ? undefined : bytes);
      assert.ok((await readAll(blobs, row.id)).equals(bytes));
    }),
    { numRuns: 25 },
  );
});

async function* asyncly(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

test('the row has its bytes in memory of their own, whatever they were a view of', async () => {
  const { blobs } = open();
  const row = await blobs.prepare([Buffer.from('a small piece of a pool')]);
  assert.equal(row.data?.buffer.byteLength, row.sizeBytes);
});

test('a blob records that it has octets outside ASCII, wherever they are', async () => {
  const { blobs } = open();
  const eight = Buffer.from([0xc3]);
  const cases: [Uint8Array[], 0 | 1][] = [
    [[], 0],
    [[Buffer.from('plain')], 0],
    [[Buffer.from('plain'), eight, Buffer.from('plain')], 1],
    [[large(0x7f)], 0],
    [[large(0x7f), eight], 1],
    [[eight, large(0x7f)], 1],
  ];
  for (const [pieces, eightBit] of cases) {
    const row = await blobs.prepare(pieces);
    assert.equal(row.eightBit, eightBit);
    await db.commit(keepBlob, row);
    assert.equal((await blobs.open(row.id)).isEightBit, eightBit === 1);
  }
});

test('the first bytes are read alone, across the pieces of a file, and never beyond its end', async () => {
  const { blobs, dataDir } = open();
  const bytes = Buffer.concat([large(1), large(2)]);
  for (const pieces of [[bytes], [Buffer.from('small')]]) {
    const row = await blobs.prepare(pieces);
    await db.commit(keepBlob, row);
    const content = await blobs.open(row.id);
    const whole = Buffer.concat(pieces);
    for (const end of [0, 1, 300_000, whole.length, whole.length + 1]) {
      assert.ok((await content.head(end)).equals(whole.subarray(0, end)));
    }
  }
  assert.deepEqual(openFiles(dataDir), []);
});

test('pieces that are read are held safely: each is memory of its own, none is larger than 256 KiB', async () => {
  const { blobs } = open();
  const bytes = Buffer.concat([large(1), large(2), large(3)]);
  const row = await blobs.prepare([bytes]);
  await db.commit(keepBlob, row);
  const pieces = await collect((await blobs.open(row.id)).chunks());
  assert.ok(Buffer.concat(pieces).equals(bytes));
  assert.ok(pieces.every((piece) => piece.length <= 256 * 1024));
});

test('a reader that stops early leaves no file open', async () => {
  const { blobs, dataDir } = open();
  const row = await blobs.prepare([large(1), large(2)]);
  await db.commit(keepBlob, row);
  const content = await blobs.open(row.id);
  assert.deepEqual(openFiles(dataDir), []);
  for await (const piece of content.chunks()) {
    assert.equal(openFiles(dataDir).length, 1);
    assert.ok(piece.length > 0);
    break;
  }
  assert.deepEqual(openFiles(dataDir), []);
  const failing = (async () => {
    for await (const _ of content.chunks()) throw new Error('the reader failed');
  })();
  await assert.rejects(failing, /the reader failed/);
  assert.deepEqual(openFiles(dataDir), []);
});

test('a file that lost its end is an error before a byte of it is read, and while it is', async () => {
  const { blobs, dataDir } = open();
  const row = await blobs.prepare([large(1), large(2)]);
  await db.commit(keepBlob, row);
  const content = await blobs.open(row.id);
  const [path = ''] = files(dataDir);
  truncateSync(join(dataDir, 'blobs', path), INLINE_BYTES);
  await assert.rejects(collect(content.chunks()), /ends at 262144 of 524290 bytes/);
  await assert.rejects(blobs.open(row.id), /has 262144 bytes instead of 524290/);
  assert.deepEqual(openFiles(dataDir), []);
});

test('reading a file with changed bytes yields all but its last chunk, then an error that names the file', async () => {
  const { blobs, dataDir } = open();
  const whole = Buffer.concat([large(1), large(2)]);
  const row = await blobs.prepare([whole]);
  await db.commit(keepBlob, row);
  const [path = ''] = files(dataDir);
  const place = join(dataDir, 'blobs', path);
  for (const at of [0, whole.length >> 1, whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[at] = 0xff;
    writeFileSync(place, damaged);
    const content = await blobs.open(row.id);
    let readBytes = 0;
    const reading = (async () => {
      for await (const piece of content.chunks()) readBytes += piece.length;
    })();
    await assert.rejects(reading, { name: 'DamagedBlobError', location: place });
    assert.ok(readBytes < whole.length, `${readBytes} bytes were handed over`);
  }
  writeFileSync(place, whole);
  assert.ok((await readAll(blobs, row.id)).equals(whole));
  assert.deepEqual(openFiles(dataDir), []);
});

test('reading bytes that were changed in the database fails before the first byte', async () => {
  const { blobs } = open();
  const row = await blobs.prepare([Buffer.from('Hello')]);
  await db.commit(keepBlob, { ...row, data: Buffer.from('Jello') });
  await assert.rejects(blobs.open(row.id), { name: 'DamagedBlobError', location: 'the database' });
});

test('pieces that fail leave neither file nor descriptor, and their error is told as it is', async () => {
  const { blobs, dataDir } = open();
  const failing = function* () {
    yield large(1);
    yield large(2);
    throw new Error('no more pieces');
  };
  await assert.rejects(blobs.prepare(failing()), /no more pieces/);
  assert.deepEqual(files(dataDir), []);
  assert.deepEqual(openFiles(dataDir), []);
});

test('a full disk is a refusal to come back from, and nothing stays behind', async (t) => {
  const { blobs, dataDir, full: reports } = open();
  const anyFile = await openFile('/dev/null', 'r');
  const handles = Object.getPrototypeOf(anyFile);
  await anyFile.close();
  for (const step of ['writeFile', 'datasync', 'sync'] as const) {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const mock = t.mock.method(handles, step, async () => Promise.reject(full));
    await assert.rejects(blobs.prepare([large(1)]), (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, 'unavailable');
      assert.equal(error.cause, full);
      return true;
    });
    mock.mock.restore();
    assert.equal(files(dataDir).filter((path) => path.startsWith('partial')).length, 0, step);
    assert.deepEqual(openFiles(dataDir), [], step);
  }
  assert.equal(reports.count, 3);
});

test('a write to a folder that cannot be written is refused, and the log names the folder once a minute', async () => {
  const { blobs, dataDir, clock, logged } = open();
  writeFileSync(join(dataDir, 'blobs'), 'in the way');
  for (const lines of [1, 1, 2]) {
    await assert.rejects(blobs.prepare([large(1)]), (error) => {
      assert.ok(error instanceof AppError && error.code === 'unavailable');
      return true;
    });
    assert.equal(logged.length, lines);
    if (lines === 1) await clock.advance(30_000);
  }
  assert.match(
    logged[0] ?? '',
    /"code":"ENOTDIR","reason":"ENOTDIR: .*blobs.*"msg":"a file of a message cannot be written/,
  );
});

test('the pieces are closed when the file cannot be written', async () => {
  const { blobs, dataDir } = open();
  mkdirSync(join(dataDir, 'blobs'));
  writeFileSync(join(dataDir, 'blobs', 'partial'), 'in the way');
  let isClosed = false;
  const pieces = (function* () {
    try {
      for (let piece = 0; piece < 10; piece++) yield large(piece);
    } finally {
      isClosed = true;
    }
  })();
  await assert.rejects(blobs.prepare(pieces), AppError);
  assert.ok(isClosed);
  assert.deepEqual(files(dataDir), ['partial']);
});

test('a large piece does not hold up the loop: no more than 256 KiB are hashed between two waits', async (t) => {
  const { blobs } = open();
  const update = t.mock.method(Hash.prototype, 'update');
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await blobs.prepare([Buffer.alloc(8 * 1024 * 1024, 1)]);
  isDone = true;
  const lengths = update.mock.calls.map((call) => (call.arguments[0] as unknown as Buffer).length);
  assert.equal(Math.max(...lengths), 256 * 1024);
  assert.ok(turns >= 30, `${turns} turns`);
});

test('many small pieces are few writes', async (t) => {
  const { blobs } = open();
  const anyFile = await openFile('/dev/null', 'r');
  const write = t.mock.method(Object.getPrototypeOf(anyFile), 'writeFile');
  await anyFile.close();
  const row = await blobs.prepare(
    Array.from({ length: 10_000 }, () => Buffer.from('a line of a hundred octets'.repeat(4))),
  );
  assert.equal(row.sizeBytes, 1_040_000);
  assert.ok(write.mock.callCount() <= 16, `${write.mock.callCount()} writes`);
});

test('the same bytes twice are two blobs and one file', async () => {
  const { blobs, dataDir } = open();
  const [one, other] = await Promise.all([blobs.prepare([large(4)]), blobs.prepare([large(4)])]);
  assert.notEqual(one.id, other.id);
  assert.equal(files(dataDir).length, 1);
  for (const row of [one, other]) await db.commit(keepBlob, row);
  assert.deepEqual(await readAll(blobs, other.id), large(4));
});

test('a blob that does not exist, or lost its file, is an error and never empty', async () => {
  const { blobs, dataDir } = open();
  await assert.rejects(blobs.open(newId('blob', NOW)), /does not exist/);
  const row = await blobs.prepare([large(5)]);
  await db.commit(keepBlob, row);
  const [path = ''] = files(dataDir);
  rmSync(join(dataDir, 'blobs', path));
  await assert.rejects(blobs.open(row.id), /DamagedBlobError: the file is missing/);
});

test('while the folder of all files is away, a blob cannot be read now, and nothing is made in its place', async () => {
  const { blobs, dataDir } = open();
  const row = await blobs.prepare([large(5)]);
  await db.commit(keepBlob, row);
  const root = join(dataDir, 'blobs');
  renameSync(root, join(dataDir, 'elsewhere'));
  await assert.rejects(blobs.open(row.id), { name: 'AppError', code: 'unavailable' });
  assert.ok(!existsSync(root));
  mkdirSync(root);
  await assert.rejects(blobs.open(row.id), { name: 'AppError', code: 'unavailable' });
  assert.deepEqual(readdirSync(root), []);
  rmdirSync(root);
  renameSync(join(dataDir, 'elsewhere'), root);
  assert.deepEqual(await readAll(blobs, row.id), large(5));
});

test('a file that a crash left half written is never read, and is swept when it is old', async () => {
  const { blobs, dataDir } = open();
  const row = await blobs.prepare([large(6)]);
  await db.commit(keepBlob, row);
  const [path = ''] = files(dataDir);
  const torn = `${path}.4f9c`;
  writeFileSync(join(dataDir, 'blobs', torn), 'half');
  assert.deepEqual(await readAll(blobs, row.id), large(6));
  setAge(dataDir, torn, HOUR_MS - 1_000);
  assert.equal((await blobs.sweep()).moved, 0);
  setAge(dataDir, torn, HOUR_MS + 1_000);
  assert.equal((await blobs.sweep()).moved, 1);
  assert.deepEqual(files(dataDir), [path]);
});

test('the sweep keeps what a row names, however old, and takes what none does', async () => {
  const dataDir = temporaryDirectory();
  const earlier = open(dataDir).blobs;
  const used = await earlier.prepare([large(7)]);
  await db.commit(keepBlob, used);
  const unused = await earlier.prepare([large(8)]);
  for (const path of files(dataDir)) setAge(dataDir, path, 100 * HOUR_MS);
  assert.equal((await open(dataDir).blobs.sweep()).moved, 1);
  assert.deepEqual(
    files(dataDir).map((path) => path.slice(3)),
    [used.sha256],
  );
  assert.notEqual(unused.sha256, used.sha256);
});

test('an old file that is prepared again is kept for the commit that may follow', async () => {
  const { blobs, clock, dataDir } = open();
  const row = await blobs.prepare([large(9)]);
  const [path = ''] = files(dataDir);
  setAge(dataDir, path, 100 * HOUR_MS);
  assert.equal((await blobs.sweep()).moved, 0);
  await clock.advance(2 * HOUR_MS);
  assert.equal((await blobs.sweep()).moved, 1);
  assert.equal(row.data, null);
});

test('a file that was just prepared is kept when the wall clock is set forward by a day', async () => {
  const { clock, dataDir, system } = open();
  let wallMs = 0;
  const ahead = { ...clock, now: () => clock.now() + wallMs };
  const blobs = openBlobs({ ...system, clock: ahead }, mainOwner(db, dataDir));
  await blobs.prepare([large(9)]);
  const [path = ''] = files(dataDir);
  setAge(dataDir, path, 0);
  wallMs = 24 * HOUR_MS;
  assert.equal((await blobs.sweep()).moved, 0);
});

test('a file that is discarded is gone at once, and can be prepared again', async () => {
  const { blobs, dataDir } = open();
  const row = await blobs.prepare([large(10)]);
  const kept = await blobs.prepare([large(11)]);
  await blobs.discard(row);
  assert.deepEqual(
    files(dataDir).map((path) => path.slice(3)),
    [kept.sha256],
  );
  await blobs.discard(await blobs.prepare([large(10)]));
  assert.equal(files(dataDir).length, 1);
  const again = await blobs.prepare([large(10)]);
  await db.commit(keepBlob, again);
  assert.deepEqual(await readAll(blobs, again.id), large(10));
});

test('a small blob is discarded by doing nothing', async () => {
  const { blobs, dataDir } = open();
  await blobs.discard(await blobs.prepare([Buffer.from('small')]));
  assert.throws(() => files(dataDir), /ENOENT/);
});

test('a file that another row names or another request has prepared is not discarded', async () => {
  const { blobs, dataDir } = open();
  const committed = await blobs.prepare([large(12)]);
  await db.commit(keepBlob, committed);
  const [one, other] = [await blobs.prepare([large(13)]), await blobs.prepare([large(13)])];
  await blobs.discard(committed);
  await blobs.discard(one);
  assert.equal(files(dataDir).length, 2);
  await db.commit(keepBlob, other);
  assert.deepEqual(await readAll(blobs, other.id), large(13));
});

test('a blob committed before a restart, or long ago, does not take the file of a request that has not committed', async () => {
  const first = open();
  const earlier = await first.blobs.prepare([large(16)]);
  await db.commit(keepBlob, earlier);
  const restarted = open(first.dataDir);
  const pending = await restarted.blobs.prepare([large(16)]);
  const emptied = await db.commit(emptyKept, earlier.id);
  assert.ok(emptied);
  await restarted.blobs.discard(emptied);
  await db.commit(keepBlob, pending);
  assert.deepEqual(await readAll(restarted.blobs, pending.id), large(16));
  await first.clock.advance(2 * HOUR_MS);
  await first.blobs.sweep();
  const late = await first.blobs.prepare([large(16)]);
  const emptiedLater = await db.commit(emptyKept, pending.id);
  assert.ok(emptiedLater);
  await first.blobs.discard(emptiedLater);
  await db.commit(keepBlob, late);
  assert.deepEqual(await readAll(first.blobs, late.id), large(16));
});

test('the file is deleted with the last blob that named it, in whatever order they are discarded', async () => {
  const { blobs, dataDir } = open();
  const [one, other] = [await blobs.prepare([large(17)]), await blobs.prepare([large(17)])];
  for (const row of [one, other]) await db.commit(keepBlob, row);
  for (const [row, left] of [
    [one, 1],
    [other, 0],
  ] as const) {
    const emptied = await db.commit(emptyKept, row.id);
    assert.ok(emptied);
    await blobs.discard(emptied);
    assert.equal(files(dataDir).length, left);
  }
});

test('preparing and discarding the same bytes in any order leaves committed blobs complete', async () => {
  const { blobs } = open();
  const rounds = Array.from({ length: 40 }, async (_, round) => {
    const row = await blobs.prepare([large(14 + (round % 2))]);
    if (round % 3 !== 0) return blobs.discard(row);
    await db.commit(keepBlob, row);
    return readAll(blobs, row.id);
  });
  for (const read of await Promise.all(rounds)) assert.ok(read === undefined || read.length > INLINE_BYTES);
});

test('sweeping before anything was stored finds nothing', async () => {
  assert.equal((await open().blobs.sweep()).moved, 0);
});

test('each owner of blobs keeps files of its own: its rows decide what is in use, and its sweep takes nothing of others', async () => {
  const { blobs: messages, clock, dataDir, system } = open();
  const rows = new Map<string, BlobRow>();
  const isFileInUse = async (hash: string) => [...rows.values()].some(({ sha256 }) => sha256 === hash);
  const notes = openBlobs(
    { ...system, clock },
    {
      root: join(dataDir, 'notes'),
      find: async (id) => rows.get(id),
      isFileInUse,
      keepFilesUntil: null,
      uses: [],
    },
  );
  const ofMessage = await messages.prepare([large(21)]);
  await db.commit(keepBlob, ofMessage);
  const [kept, same, unused] = [large(22), large(21), large(23)];
  const ofNotes = await notes.prepare([kept]);
  rows.set(ofNotes.id, ofNotes);
  // The message's row says nothing about the file of the notes that has the same bytes.
  await notes.discard(await notes.prepare([same]));
  await notes.prepare([unused]);
  assert.equal(files(dataDir, 'notes').length, 2);
  await clock.advance(2 * HOUR_MS);
  assert.equal((await notes.sweep()).moved, 1);
  assert.equal((await messages.sweep()).moved, 0);
  const content = await notes.open(ofNotes.id);
  assert.deepEqual(await content.head(4), kept.subarray(0, 4));
  await assert.rejects(messages.open(ofNotes.id), /does not exist/);
  assert.deepEqual(files(dataDir), [`${ofMessage.sha256.slice(0, 2)}/${ofMessage.sha256}`]);
});

test('bytes that can be made again are a file of no blob, which is removed at once or by the sweep', async () => {
  const { blobs, dataDir } = open();
  const first = await blobs.writeScratch([large(31), Buffer.alloc(0), large(32)]);
  const whole = Buffer.concat([large(31), large(32)]);
  assert.equal(first.sizeBytes, whole.length);
  const reading = first.chunks();
  const begun = await reading.next();
  assert.deepEqual(Buffer.concat(await collect(first.chunks())), whole);
  await first.remove();
  assert.deepEqual(files(dataDir), []);
  const rest = await collect(reading);
  assert.deepEqual(Buffer.concat([begun.value, ...rest]), whole, 'a reader reads to the end');
  await assert.rejects(collect(first.chunks()), { code: 'ENOENT' });
  assert.deepEqual(openFiles(dataDir), []);

  await blobs.writeScratch([large(33)]);
  const [left = ''] = files(dataDir);
  setAge(dataDir, left, 2 * HOUR_MS);
  await blobs.sweep();
  assert.deepEqual(files(dataDir), []);
});

test('bytes that can be made again are compared with what was written, and what fails leaves no file', async () => {
  const { blobs, dataDir } = open();
  const file = await blobs.writeScratch([large(34)]);
  const [path = ''] = files(dataDir);
  writeFileSync(join(dataDir, 'blobs', path), large(35));
  const seen: Buffer[] = [];
  const read = async () => {
    for await (const chunk of file.chunks()) seen.push(chunk);
  };
  await assert.rejects(read(), (error: Error) => {
    assert.match(error.message, /holds other bytes than were written/);
    return !(error instanceof DamagedBlobError);
  });
  assert.ok(Buffer.concat(seen).length < large(35).length, 'the end is not read');
  function* failing() {
    yield large(36);
    throw new Error('cannot be made');
  }
  await assert.rejects(blobs.writeScratch(failing()), /cannot be made/);
  assert.deepEqual(files(dataDir), []);
});
