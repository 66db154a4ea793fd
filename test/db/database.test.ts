import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LockedError } from '../../src/db/lock.ts';
import { MOST_PENDING } from '../../src/db/thread.ts';
import { AppError } from '../../src/system/errors.ts';
import type { Log } from '../../src/system/log.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';
import {
  addBlob,
  addPlan,
  answerWithFunction,
  countPlans,
  limitPages,
  missingInThreads,
  readSynchronous,
  readSynchronousOfReader,
  refuse,
  stumble,
  writeInRead,
} from './operations.ts';

/** The schema starts with `free` and `unlimited`. */
const FIRST_PLANS = 2;
const WAL_HEADER_BYTES = 32;
const WAL_FRAME_BYTES = 4096 + 24;

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

async function planNames(db: Awaited<ReturnType<typeof openTestDatabase>>): Promise<string[]> {
  return (await db.read.selectFrom('plans').select('name').orderBy('name').execute()).map(({ name }) => name);
}

test('a write answers with its result, and then every reader sees it', async (t) => {
  const db = await openTestDatabase(t);
  assert.equal(await db.commit(addPlan, 'a'), FIRST_PLANS + 1);
  assert.deepEqual(await planNames(db), ['a', 'free', 'unlimited']);
  assert.equal(await db.query(countPlans, null), FIRST_PLANS + 1);
});

test('a refused write leaves nothing and harms no other of its group', async (t) => {
  const db = await openTestDatabase(t);
  const results = await Promise.allSettled([
    db.commit(addPlan, 'a'),
    db.commit(refuse, { name: 'refused', message: 'no', options: {} }),
    db.commit(addPlan, 'b'),
    db.commit(stumble, 'stumbled'),
    db.commit(addPlan, 'a'),
    db.commit(addPlan, 'c'),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await planNames(db), ['a', 'b', 'c', 'free', 'unlimited']);
});

test('a write sees what earlier writes of its group did', async (t) => {
  const db = await openTestDatabase(t);
  const counts = await Promise.all(['a', 'b', 'c'].map((name) => db.commit(addPlan, name)));
  assert.deepEqual(counts, [3, 4, 5]);
});

test('a refusal crosses the thread with its code, message and options', async (t) => {
  const db = await openTestDatabase(t);
  const options = {
    param: 'name',
    issues: [{ path: 'to[1]', message: 'is wrong' }],
    details: { scheduledEmails: 3 },
    retryAfterSeconds: 7,
  };
  const refusal = await db.commit(refuse, { name: 'a', message: 'because', options }).catch((error) => error);
  assert.ok(refusal instanceof AppError);
  assert.equal(refusal.code, 'domain_in_use');
  assert.equal(refusal.message, 'because');
  assert.deepEqual(refusal.options, options);
});

test('a bug in a write arrives as an error that is no refusal and says where it happened', async (t) => {
  const db = await openTestDatabase(t);
  const bug = await db.commit(stumble, 'a').catch((error) => error);
  assert.ok(bug instanceof Error && !(bug instanceof AppError));
  assert.equal(bug.message, 'a bug in a write');
  assert.match(bug.stack ?? '', /operations\.ts/);
});

test('an operation that the threads do not know is refused by name', async (t) => {
  const db = await openTestDatabase(t);
  await assert.rejects(
    db.commit(missingInThreads, undefined),
    /"test\.nowhere" is not known here; is its module listed/,
  );
  await db.commit(addPlan, 'a');
});

test('an input that cannot be cloned fails its caller alone', async (t) => {
  const db = await openTestDatabase(t);
  const [bad, good] = await Promise.allSettled([
    db.commit(addPlan, (() => 'x') as unknown as string),
    db.commit(addPlan, 'good'),
  ]);
  assert.match(String(bad.status === 'rejected' && bad.reason), /could not be cloned/);
  assert.equal(good.status, 'fulfilled');
  assert.equal(db.pendingWrites, 0);
});

test('a result that cannot be cloned fails its caller alone', async (t) => {
  const db = await openTestDatabase(t);
  const [bad, good] = await Promise.allSettled([
    db.commit(answerWithFunction, 'bad'),
    db.commit(addPlan, 'good'),
  ]);
  assert.match(String(bad.status === 'rejected' && bad.reason), /could not be cloned/);
  assert.equal(good.status, 'fulfilled');
  await db.commit(addPlan, 'later');
});

test('a note is written without being awaited, and a failing one is logged and nothing else', async (t) => {
  const warnings: object[] = [];
  const log = { warn: (fields: object) => warnings.push(fields) } as unknown as Log;
  const db = await openTestDatabase(t, { log });
  db.note(addPlan, 'noted');
  db.note(addPlan, 'noted');
  await db.commit(addPlan, 'after');
  assert.deepEqual(await planNames(db), ['after', 'free', 'noted', 'unlimited']);
  assert.equal(warnings.length, 1);
  assert.equal((warnings[0] as { write: string }).write, 'test.addPlan');
});

test('a reader sees nothing of a transaction that has not committed', async (t) => {
  const db = await openTestDatabase(t, { readers: 1 });
  // A thousand writes are several groups: whenever a read falls between, it sees whole groups of 256 and no part of one.
  const writes = Array.from({ length: 1_000 }, (_, index) => db.commit(addPlan, `p${index}`));
  const seen = new Set<number>();
  let done = false;
  const all = Promise.all(writes).then(() => {
    done = true;
  });
  while (!done) {
    seen.add(await db.query(countPlans, null));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await all;
  for (const count of seen)
    assert.equal(((count - FIRST_PLANS) % 256) % 1_000 === 0 || count === 1_002, true, `${count}`);
  assert.equal(await db.query(countPlans, null), FIRST_PLANS + 1_000);
});

test('writes of one turn share a commit', async (t) => {
  const directory = temporaryDirectory(t);
  const db = await openTestDatabase(t, { directory });
  const frames = () =>
    Math.max(0, statSync(join(directory, 'postrider.db-wal')).size - WAL_HEADER_BYTES) / WAL_FRAME_BYTES;
  assert.equal(frames(), 0);
  await db.commit(addPlan, 'alone');
  const single = frames();
  await Promise.all(Array.from({ length: 200 }, (_, index) => db.commit(addPlan, `p${index}`)));
  const together = frames() - single;
  assert.ok(single >= 1);
  assert.ok(together < 40, `200 writes together took ${together} pages; one commit each takes at least 200`);
});

test('reading connections cannot write', async (t) => {
  const db = await openTestDatabase(t);
  await assert.rejects(db.query(writeInRead, 'x'), /readonly/);
  await assert.rejects(addPlan.run(db.read, 'x'), /readonly/);
});

test('every connection flushes its commits', async (t) => {
  const db = await openTestDatabase(t, { readers: 1 });
  const FULL = 2;
  assert.equal(await db.commit(readSynchronous, null), FULL);
  assert.equal(await db.query(readSynchronousOfReader, null), FULL);
});

test('a full disk is a refusal to come back later, and writes succeed again when there is room', async (t) => {
  const db = await openTestDatabase(t);
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
  await db.commit(limitPages, null);
  await db.commit(addBlob, { id: 'later', sizeBytes: 200_000 });
  assert.equal(await db.query(countPlans, null), FIRST_PLANS);
});

test('beyond the limit of waiting writes the caller is told to come back', async (t) => {
  const db = await openTestDatabase(t);
  const writes = Array.from({ length: MOST_PENDING }, (_, index) => db.commit(addPlan, `p${index}`));
  assert.equal(db.pendingWrites, MOST_PENDING);
  await assert.rejects(db.commit(addPlan, 'too many'), isUnavailable);
  await Promise.all(writes);
  assert.equal(db.pendingWrites, 0);
  await db.commit(addPlan, 'again');
});

test('closing waits for every write asked for before it, and refuses those after it', async (t) => {
  const directory = temporaryDirectory(t);
  const db = await openTestDatabase(t, { directory });
  const writes = Array.from({ length: 1_000 }, (_, index) => db.commit(addPlan, `p${index}`));
  const closed = db.close();
  const late = db.commit(addPlan, 'late');
  await assert.rejects(late);
  await Promise.all(writes);
  await closed;
  await assert.rejects(db.commit(addPlan, 'later still'));
  const again = await openTestDatabase(t, { directory });
  assert.equal(await again.query(countPlans, null), FIRST_PLANS + 1_000);
});

test('a directory has one database at a time, which is free again when it is closed', async (t) => {
  const directory = temporaryDirectory(t);
  const db = await openTestDatabase(t, { directory });
  await assert.rejects(openTestDatabase(t, { directory }), LockedError);
  await db.commit(addPlan, 'still works');
  await db.close();
  await openTestDatabase(t, { directory });
});

test('a database that cannot be opened leaves no lock behind', async (t) => {
  const directory = temporaryDirectory(t);
  const operationsModule = new URL('./no-such-module.ts', import.meta.url);
  await assert.rejects(openTestDatabase(t, { directory, operationsModule }), /no-such-module/);
  await openTestDatabase(t, { directory });
});
