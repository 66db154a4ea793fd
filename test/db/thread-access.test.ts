import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Db } from '../../src/db/database.ts';
import { SharedLoad } from '../../src/db/shared-load.ts';
import type { Tables } from '../../src/db/tables.ts';
import { openFromThread } from '../../src/db/thread-access.ts';
import { AppError } from '../../src/system/errors.ts';
import { createLog } from '../../src/system/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openTestDatabase } from './open.ts';
import { addBlob, addPlan, limitPages, refuse, weigh } from './operations.ts';

let db: Db;
before(async () => {
  db = await openTestDatabase({ after() {} });
});
after(() => db.close());

/** The connection is used in this thread, which the other side of a port cannot notice. */
function openOther(context: TestContext, database = db) {
  const other = openFromThread<Tables>(
    { clock: createFakeClock(0), log: createLog('silent') },
    database.connectThread(),
  );
  context.after(() => other.close());
  return other;
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

test('each thread receives the answers to its own writes, also when they share a transaction', async (t) => {
  const other = openOther(t);
  // A group is under way while the later writes arrive, so those share transactions.
  const turns = Array.from({ length: 20 }, (_, turn) => turn);
  const counts = turns.flatMap((turn) => [db.commit(addPlan, `m${turn}`), other.commit(addPlan, `o${turn}`)]);
  assert.equal(new Set(await Promise.all(counts)).size, 40);
  const [mine, , theirs] = await Promise.all([
    db.commit(addPlan, 'mine'),
    assert.rejects(db.commit(refuse, { name: 'refused', message: 'no', options: {} }), { message: 'no' }),
    other.commit(addPlan, 'theirs'),
  ]);
  // Both answers are numbers of rows, and one of the writes was first.
  assert.equal(Math.abs(mine - theirs), 1);
  await assert.rejects(other.commit(refuse, { name: 'refused', message: 'also no', options: {} }), {
    message: 'also no',
  });
  for (const { read } of [db, other]) {
    const plans = await read
      .selectFrom('plans')
      .select('name')
      .where('name', 'in', ['mine', 'theirs'])
      .execute();
    assert.equal(plans.length, 2);
  }
});

test('a thread cannot write through its reading connection', async (t) => {
  const other = openOther(t);
  await assert.rejects(addPlan.run(other.read, 'directly'), /readonly database/);
});

test('a thread that closes waits for its earlier writes, and the others go on', async (t) => {
  const other = openOther(t);
  const earlier = other.commit(addPlan, 'earlier');
  const closed = other.close();
  await assert.rejects(other.commit(addPlan, 'later'), isUnavailable);
  assert.ok(await earlier);
  await closed;
  assert.ok(await db.commit(addPlan, 'afterwards'));
});

test('a thread that ends without waiting for its writes does not affect other threads', async () => {
  const { port } = db.connectThread();
  const [request] = [{ id: 1, operation: addPlan.name, input: 'of the dead', sizeBytes: 1 }];
  port.postMessage({ kind: 'run', database: 0, requests: [request] });
  port.close();
  await db.commit(addPlan, 'of the living');
  const plan = await db.read.selectFrom('plans').select('name').where('name', '=', 'of the living').execute();
  assert.equal(plan.length, 1);
});

test('the pending writes of every thread are counted together, until they are answered', async (t) => {
  const other = openOther(t);
  const body = { bytes: new Uint8Array(1_000_000) };
  const writes = [other.commit(weigh, { body }), other.commit(weigh, { body }), db.commit(weigh, { body })];
  assert.equal(db.pendingWrites, 3);
  assert.ok(db.pendingBytes >= 3_000_000, `${db.pendingBytes}`);
  await Promise.all(writes);
  assert.deepEqual([db.pendingWrites, db.pendingBytes], [0, 0]);
});

test('the pending writes of a thread that has ended are no longer counted', async () => {
  const { port, load } = db.connectThread();
  new SharedLoad(load).set(1_500, 2_000_000);
  assert.deepEqual([db.pendingWrites, db.pendingBytes], [1_500, 2_000_000]);
  port.close();
  await waitUntil(() => db.pendingWrites === 0, 'the writer thread has noticed the end');
  assert.equal(db.pendingBytes, 0);
});

test('a full disk that refuses a write of a thread is reported to the main thread', async (t) => {
  let reports = 0;
  const full = await openTestDatabase(t, { onDiskFull: () => void reports++ });
  const other = openOther(t, full);
  await full.commit(limitPages, 4);
  await assert.rejects(other.commit(addBlob, { id: 'large', sizeBytes: 200_000 }), isUnavailable);
  await waitUntil(() => reports === 1, 'the report has arrived');
  await assert.rejects(other.commit(refuse, { name: 'no', message: 'not the disk', options: {} }));
  await full.commit(limitPages, null);
  assert.equal(reports, 1);
});

test('closing the database ends the writes of all threads', async (t) => {
  const closing = await openTestDatabase(t);
  const other = openOther(t, closing);
  await other.commit(addPlan, 'first');
  await closing.close();
  await assert.rejects(
    other.commit(addPlan, 'too late'),
    /the writer thread has closed the database|closing/,
  );
});
