import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Db } from '../../src/db/database.ts';
import { LockedError } from '../../src/db/lock.ts';
import { MAX_PENDING, MAX_PENDING_BYTES } from '../../src/db/thread-database.ts';
import { AppError } from '../../src/system/errors.ts';
import type { Log } from '../../src/system/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { openTestDatabase } from './open.ts';
import {
  addBlob,
  addBlobAndWake,
  addPlan,
  addTwoPlans,
  answerWithFunction,
  countPlans,
  limitPages,
  missingInThreads,
  readFunction,
  readSynchronous,
  readSynchronousOfReader,
  refuse,
  stumble,
  weigh,
  writeInRead,
} from './operations.ts';

/** The schema starts with `free` and `unlimited`. */
const FIRST_PLANS = 2;
const WAL_HEADER_BYTES = 32;
const WAL_FRAME_BYTES = 4096 + 24;

/** Opening one takes three threads, so the tests that leave no limit and no lock behind share it. */
let db: Db;
const warnings: object[] = [];
before(async () => {
  const log = { warn: (fields: object) => warnings.push(fields) } as unknown as Log;
  db = await openTestDatabase({ after() {} }, { log });
});
after(() => db.close());

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

/** Names of the plans that begin like this. */
async function plans(prefix: string): Promise<string[]> {
  const query = db.read
    .selectFrom('plans')
    .select('name')
    .where('name', 'like', `${prefix}%`)
    .orderBy('name');
  return (await query.execute()).map(({ name }) => name);
}

test('a write answers with its result, and then every reader sees it', async () => {
  const count = await db.query(countPlans, null);
  assert.equal(await db.commit(addPlan, 'seen'), count + 1);
  assert.deepEqual(await plans('seen'), ['seen']);
  assert.equal(await db.query(countPlans, null), count + 1);
});

test('a refused write leaves nothing and harms no other of its group', async () => {
  const results = await Promise.allSettled([
    db.commit(addPlan, 'group a'),
    db.commit(refuse, { name: 'group refused', message: 'no', options: {} }),
    db.commit(addPlan, 'group b'),
    db.commit(stumble, 'group stumbled'),
    db.commit(addPlan, 'group a'),
    db.commit(addPlan, 'group c'),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await plans('group'), ['group a', 'group b', 'group c']);
});

test('a write sees what earlier writes of its group did', async () => {
  const [first = 0, ...later] = await Promise.all(
    ['x', 'y', 'z'].map((name) => db.commit(addPlan, `order ${name}`)),
  );
  assert.deepEqual(later, [first + 1, first + 2]);
});

test('a refusal crosses the thread with its code, message and options', async () => {
  const options = {
    param: 'name',
    issues: [{ path: 'to[1]', message: 'is wrong' }],
    details: { scheduledEmails: 3 },
    retryAfterSeconds: 7,
  };
  const refusal = await db.commit(refuse, { name: 'r', message: 'because', options }).catch((error) => error);
  assert.ok(refusal instanceof AppError);
  assert.equal(refusal.code, 'domain_in_use');
  assert.equal(refusal.message, 'because');
  assert.deepEqual(refusal.options, options);
});

test('a bug in a write arrives as an error that is no refusal and says where it happened', async () => {
  const bug = await db.commit(stumble, 's').catch((error) => error);
  assert.ok(bug instanceof Error && !(bug instanceof AppError));
  assert.equal(bug.message, 'a bug in a write');
  assert.match(bug.stack ?? '', /operations\.ts/);
});

test('an operation that the threads do not know is refused by name', async () => {
  await assert.rejects(
    db.commit(missingInThreads, undefined),
    /"test\.nowhere" is not known here; does operations\.ts/,
  );
});

test('an input that cannot be cloned fails its caller alone', async () => {
  const [bad, good] = await Promise.allSettled([
    db.commit(addPlan, (() => 'x') as unknown as string),
    db.commit(addPlan, 'input good'),
  ]);
  assert.match(String(bad.status === 'rejected' && bad.reason), /could not be cloned/);
  assert.equal(good.status, 'fulfilled');
  assert.equal(db.pendingWrites, 0);
});

test('memory that is given to a write moves to its thread, also when another input cannot be cloned', async () => {
  const bytes = new Uint8Array(20_000);
  const [bad, sizeBytes] = await Promise.allSettled([
    db.commit(addPlan, (() => 'x') as unknown as string),
    db.commit(weigh, { body: { bytes } }, [bytes.buffer]),
  ]);
  assert.equal(bad.status, 'rejected');
  assert.deepEqual(sizeBytes, { status: 'fulfilled', value: 20_000 });
  assert.equal(bytes.byteLength, 0);
});

test('a result that cannot be cloned fails its caller alone', async () => {
  const [bad, good] = await Promise.allSettled([
    db.commit(answerWithFunction, 'result bad'),
    db.commit(addPlan, 'result good'),
  ]);
  assert.match(String(bad.status === 'rejected' && bad.reason), /could not be cloned/);
  assert.equal(good.status, 'fulfilled');
  await db.commit(addPlan, 'result later');
});

test('a query whose result cannot be cloned fails its caller alone', async () => {
  const [bad, good] = await Promise.allSettled([db.query(readFunction, 'x'), db.query(countPlans, null)]);
  assert.match(String(bad.status === 'rejected' && bad.reason), /could not be cloned/);
  assert.equal(good.status, 'fulfilled');
});

test('a background write is not awaited, and its failure is only logged', async () => {
  db.commitInBackground(addPlan, 'note');
  db.commitInBackground(addPlan, 'note');
  await db.commit(addPlan, 'note after');
  assert.deepEqual(await plans('note'), ['note', 'note after']);
  assert.deepEqual(
    warnings.map((fields) => (fields as { write: string }).write),
    ['test.addPlan'],
  );
});

test('a reader never sees a part of a write', async () => {
  const before = await db.query(countPlans, null);
  let done = false;
  const all = Promise.all(
    Array.from({ length: 500 }, (_, index) => db.commit(addTwoPlans, `whole ${index}`)),
  ).then(() => {
    done = true;
  });
  while (!done) {
    const seen = (await db.query(countPlans, null)) - before;
    assert.equal(seen % 2, 0, `${seen} rows were visible`);
  }
  await all;
  assert.equal((await db.query(countPlans, null)) - before, 1_000);
});

test('writes of one turn share a commit', async (t) => {
  const directory = newDataDirectory();
  const db = await openTestDatabase(t, { directory });
  const frames = () =>
    Math.max(0, statSync(join(directory, 'postrider.db-wal')).size - WAL_HEADER_BYTES) / WAL_FRAME_BYTES;
  const started = frames();
  await db.commit(addPlan, 'alone');
  const single = frames() - started;
  await Promise.all(Array.from({ length: 200 }, (_, index) => db.commit(addPlan, `p${index}`)));
  const together = frames() - started - single;
  assert.ok(single >= 1);
  assert.ok(together < 40, `200 writes together took ${together} pages; one commit each takes at least 200`);
});

test('the WAL is copied back as it grows, and does not grow on', async (t) => {
  const directory = newDataDirectory();
  const database = await openTestDatabase(t, { directory, readers: 0 });
  const MEBIBYTE = 1024 * 1024;
  for (let index = 0; index < 24; index++) {
    await database.commit(addBlob, { id: `wal${index}`, sizeBytes: MEBIBYTE });
  }
  assert.ok(statSync(join(directory, 'postrider.db-wal')).size < 18 * MEBIBYTE);
});

test('reading connections cannot write', async () => {
  await assert.rejects(db.query(writeInRead, 'x'), /readonly/);
  await assert.rejects(addPlan.run(db.read, 'x'), /readonly/);
});

test('every connection flushes its commits', async () => {
  const FULL = 2;
  assert.equal(await db.commit(readSynchronous, null), FULL);
  assert.equal(await db.query(readSynchronousOfReader, null), FULL);
});

test('a full disk refuses writes with a time to retry, and writes succeed again once there is free space', async (t) => {
  let reports = 0;
  const db = await openTestDatabase(t, { onDiskFull: () => void reports++ });
  await db.commit(limitPages, 4);
  const group = await Promise.allSettled([
    db.commit(addBlob, { id: 'small', sizeBytes: 10 }),
    db.commit(addBlob, { id: 'large', sizeBytes: 200_000 }),
  ]);
  const [small, large] = group;
  assert.ok(large?.status === 'rejected' && isUnavailable(large.reason));
  assert.ok(large.reason.options.retryAfterSeconds > 0);
  const stored = await db.read.selectFrom('blobs').select('id').execute();
  assert.deepEqual(stored, small?.status === 'fulfilled' ? [{ id: 'blob_small' }] : []);
  assert.equal(reports, group.filter(({ status }) => status === 'rejected').length);
  await db.commit(limitPages, null);
  await db.commit(addBlob, { id: 'later', sizeBytes: 200_000 });
  assert.equal(await db.query(countPlans, null), FIRST_PLANS);
});

test('the wake-ups that a group of writes asks for are sent once it is on disk', async (t) => {
  const heard = Promise.withResolvers<unknown[]>();
  const wakeups: unknown[] = [];
  const db = await openTestDatabase(t, {
    async onWakeup(...wakeup) {
      wakeups.push(wakeup);
      heard.resolve(await db.read.selectFrom('blobs').select('id').execute());
    },
  });
  await Promise.all([db.commit(addBlobAndWake, 'a'), db.commit(addBlobAndWake, 'b')]);
  assert.equal((await heard.promise).length, 2);
  await db.commit(addBlob, { id: 'c', sizeBytes: 1 });
  assert.deepEqual(wakeups, [['blobs', ['a', 'b']]]);
});

test('a write beyond the limit of waiting writes is refused with a time to retry', async () => {
  const writes = Array.from({ length: MAX_PENDING }, (_, index) => db.commit(addPlan, `many ${index}`));
  assert.equal(db.pendingWrites, MAX_PENDING);
  await assert.rejects(db.commit(addPlan, 'too many'), isUnavailable);
  await Promise.all(writes);
  assert.equal(db.pendingWrites, 0);
  await db.commit(addPlan, 'again');
});

test('a write beyond the limit of waiting bytes is refused with a time to retry, and a small one is accepted', async () => {
  const mebibytes = (count: number) => ({ body: { bytes: new Uint8Array(count * 1024 * 1024) } });
  const MAX_MEBIBYTES = MAX_PENDING_BYTES / 1024 / 1024;
  const writes = [db.commit(weigh, mebibytes(MAX_MEBIBYTES - 1))];
  assert.equal(db.pendingBytes, MAX_PENDING_BYTES - 1024 * 1024);
  await assert.rejects(db.commit(weigh, mebibytes(2)), isUnavailable);
  writes.push(db.commit(weigh, mebibytes(1)));
  assert.equal(db.pendingBytes, MAX_PENDING_BYTES);
  await assert.rejects(db.commit(addPlan, 'heavy'), isUnavailable);
  await Promise.all(writes);
  assert.equal(db.pendingBytes, 0);
  const larger = MAX_MEBIBYTES + 1;
  assert.equal(await db.commit(weigh, mebibytes(larger)), larger * 1024 * 1024);
});

test('the lag is the age of the oldest write that has no answer', async (t) => {
  let elapsedMs = 1_000;
  const clock = { ...createFakeClock(0), elapsed: () => elapsedMs };
  const db = await openTestDatabase(t, { clock, readers: 0 });
  assert.equal(db.lagMs, 0);
  const first = db.commit(addPlan, 'lag a');
  elapsedMs += 30;
  const second = db.commit(addPlan, 'lag b');
  elapsedMs += 12;
  assert.equal(db.lagMs, 42);
  await Promise.all([first, second]);
  assert.equal(db.lagMs, 0);
  void db.commit(addPlan, 'lag c');
  elapsedMs += 5;
  assert.equal(db.lagMs, 5);
});

test('a thread is silent while it has work and answers nothing, however long it had none before', async (t) => {
  let elapsedMs = 0;
  const clock = { ...createFakeClock(0), elapsed: () => elapsedMs };
  const db = await openTestDatabase(t, { clock, readers: 1 });
  await db.startReader();
  elapsedMs = 100_000;
  assert.deepEqual([db.writerSilentMs, db.readerSilentMs], [0, 0], 'idle');
  const write = db.commit(addPlan, 'silent');
  const read = db.query(countPlans, null);
  // The read is handed to the thread in the next microtask.
  await Promise.resolve();
  elapsedMs += 7;
  assert.deepEqual([db.writerSilentMs, db.readerSilentMs], [7, 7]);
  await Promise.all([write, read]);
  assert.deepEqual([db.writerSilentMs, db.readerSilentMs], [0, 0]);
});

test('closing waits for every write asked for before it, and refuses later ones', async (t) => {
  const directory = newDataDirectory();
  const db = await openTestDatabase(t, { directory });
  const writes = Array.from({ length: 1_000 }, (_, index) => db.commit(addPlan, `p${index}`));
  await Promise.all([db.close(), ...writes]);
  await assert.rejects(db.commit(addPlan, 'late'), isUnavailable);
  const again = await openTestDatabase(t, { directory });
  assert.equal(await again.query(countPlans, null), FIRST_PLANS + 1_000);
});

test('a directory has one database at a time, which is free again when it is closed', async (t) => {
  const directory = newDataDirectory();
  const db = await openTestDatabase(t, { directory });
  await assert.rejects(openTestDatabase(t, { directory }), LockedError);
  await db.commit(addPlan, 'still works');
  await db.close();
  await openTestDatabase(t, { directory });
});

test('a database that cannot be opened leaves no lock behind', async (t) => {
  const directory = newDataDirectory();
  const operationsModule = new URL('./no-such-module.ts', import.meta.url);
  await assert.rejects(openTestDatabase(t, { directory, operationsModule }), /no-such-module/);
  await openTestDatabase(t, { directory });
});
