import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Db } from '../../src/db/database.ts';
import type { Tables } from '../../src/db/tables.ts';
import { openFromThread } from '../../src/db/thread-access.ts';
import { AppError } from '../../src/system/errors.ts';
import { createLog } from '../../src/system/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestDatabase } from './open.ts';
import { addPlan, refuse } from './operations.ts';

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

test('another thread cannot write through its reading connection', async (t) => {
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

test('a thread that ends without waiting for its writes disturbs nobody', async () => {
  const { port } = db.connectThread();
  const [request] = [{ id: 1, operation: addPlan.name, input: 'of the dead', sizeBytes: 1 }];
  port.postMessage({ kind: 'run', database: 0, requests: [request] });
  port.close();
  await db.commit(addPlan, 'of the living');
  const plan = await db.read.selectFrom('plans').select('name').where('name', '=', 'of the living').execute();
  assert.equal(plan.length, 1);
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
