import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { kyselyOn } from '../../src/db/dialect.ts';
import { defineWrite } from '../../src/db/operation.ts';
import type { Request } from '../../src/db/thread-messages.ts';
import { createGroupCommit, GROUP_MS } from '../../src/db/write-group.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';
import { addPlan, refuse } from './operations.ts';

/** As a write that takes an error of SQLite for nothing, after which the transaction is gone. */
const endTransaction = defineWrite('test.endTransaction', async (tx, _input: null) => {
  await sql`ROLLBACK`.execute(tx);
});

/** As SQLite may answer a full disk: everything before it in the transaction is gone too. */
const overflow = defineWrite('test.overflow', async (tx, _input: null) => {
  await sql`ROLLBACK`.execute(tx);
  throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
});

/** A write that takes as many milliseconds of the time of its group as its input says. */
let elapsedMs = 0;
const takeTime = defineWrite('test.takeTime', async (_tx, tookMs: number) => {
  elapsedMs += tookMs;
});

/** A fatal error that no write can be blamed for, without a disk that fails. */
const LOCKED = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });

type Asked = { name: string; input: unknown };

function open() {
  const { database } = openMemoryDatabase();
  database.exec('DELETE FROM tenants; DELETE FROM plans');
  const executed: string[] = [];
  const exec = database.exec.bind(database);
  const failing = new Map<string, Error>();
  database.exec = (source) => {
    executed.push(source);
    const error = failing.get(source);
    failing.delete(source);
    if (error) throw error;
    return exec(source);
  };
  const commit = createGroupCommit(database, kyselyOn<unknown>(database), {
    reach: (group, moment) => executed.push(`${moment} ${group.length}`),
    clock: { elapsed: () => elapsedMs },
  });
  let lastId = 0;
  return {
    database,
    failing,
    /** Commits the group, and tells how each write ended and what was executed around them. */
    async run(...writes: readonly Asked[]) {
      executed.length = 0;
      const group = writes.map(({ name, input }): Request => {
        return { id: ++lastId, operation: name, input, sizeBytes: 0 };
      });
      const answers = await commit(group);
      assert.deepEqual(
        answers.map(({ id }) => id),
        group.slice(0, answers.length).map(({ id }) => id),
      );
      const ends = answers.map((answer) => ('error' in answer ? answer.error.message : 'done'));
      return { answers, ends, executed: [...executed] };
    },
    plans: () => database.prepare('SELECT name FROM plans ORDER BY name').pluck().all(),
  };
}

const adds = (name: string) => ({ name: addPlan.name, input: name });
const refuses = (name: string) => ({ name: refuse.name, input: { name, message: 'no', options: {} } });
const ends = { name: endTransaction.name, input: null };

test('a group without a refusal has no savepoint', async () => {
  const group = open();
  const { ends, executed } = await group.run(adds('a'), adds('b'));
  assert.deepEqual(ends, ['done', 'done']);
  assert.deepEqual(executed, ['BEGIN IMMEDIATE', 'beforeCommit 2', 'COMMIT', 'afterCommit 2']);
  assert.deepEqual(group.plans(), ['a', 'b']);
});

test('a group with a refusal runs again with savepoints, and only the refused write is rolled back', async () => {
  const group = open();
  const { answers, ends, executed } = await group.run(adds('a'), refuses('b'), adds('c'));
  assert.deepEqual(ends, ['done', 'no', 'done']);
  assert.deepEqual(
    answers.map((answer) => 'value' in answer && answer.value),
    [1, false, 2],
  );
  assert.deepEqual(group.plans(), ['a', 'c']);
  assert.deepEqual(executed, [
    'BEGIN IMMEDIATE',
    'ROLLBACK',
    'BEGIN IMMEDIATE',
    'SAVEPOINT one_write',
    'RELEASE one_write',
    'SAVEPOINT one_write',
    'ROLLBACK TO one_write',
    'RELEASE one_write',
    'SAVEPOINT one_write',
    'RELEASE one_write',
    'beforeCommit 3',
    'COMMIT',
    'afterCommit 3',
  ]);
});

test('after a refusal the next group has savepoints at once, until one goes through', async () => {
  const group = open();
  const begins = async (...writes: readonly Asked[]) => {
    const { executed } = await group.run(...writes);
    const count = (what: string) => executed.filter((source) => source === what).length;
    return { begins: count('BEGIN IMMEDIATE'), savepoints: count('SAVEPOINT one_write') };
  };
  assert.deepEqual(await begins(refuses('a')), { begins: 2, savepoints: 1 });
  assert.deepEqual(await begins(refuses('b')), { begins: 1, savepoints: 1 });
  assert.deepEqual(await begins(adds('c')), { begins: 1, savepoints: 1 });
  assert.deepEqual(await begins(adds('d')), { begins: 1, savepoints: 0 });
});

test('when a write ends the transaction, no caller of the group gets a success', async () => {
  const group = open();
  const { ends: answers } = await group.run(adds('a'), ends, adds('b'));
  assert.ok(
    answers.every((answer) => answer !== 'done'),
    answers.join('\n'),
  );
  assert.deepEqual(group.plans(), []);
  assert.equal(group.database.inTransaction, false);
  assert.deepEqual((await group.run(adds('c'))).ends, ['done']);
});

test('when a full disk rolls back the whole group, every caller is told to retry', async () => {
  const group = open();
  const { answers } = await group.run(adds('a'), { name: overflow.name, input: null }, adds('b'));
  assert.deepEqual(
    answers.map((answer) => 'error' in answer && answer.error.kind === 'refusal' && answer.error.code),
    Array(3).fill('unavailable'),
  );
  assert.deepEqual(group.plans(), []);
});

test('a write after one that ended the transaction is not run outside of any', async () => {
  const group = open();
  await group.run(ends, adds('b'));
  assert.deepEqual(group.plans(), []);
});

for (const step of ['BEGIN IMMEDIATE', 'COMMIT']) {
  test(`when ${step} fails the whole group is refused, and nothing of it is there`, async () => {
    const group = open();
    group.failing.set(step, LOCKED);
    const { answers } = await group.run(adds('a'), adds('b'));
    assert.deepEqual(
      answers.map((answer) => 'error' in answer && answer.error.kind === 'refusal' && answer.error.code),
      ['unavailable', 'unavailable'],
    );
    assert.deepEqual(group.plans(), []);
    assert.equal(group.database.inTransaction, false);
    assert.deepEqual((await group.run(adds('c'))).ends, ['done']);
  });
}

/** Counts calls that would end the process, and keeps it alive. */
function catchKill(t: TestContext): { kills: number } {
  const caught = { kills: 0 };
  t.mock.method(process, 'kill', () => {
    caught.kills++;
    return true;
  });
  return caught;
}

test('a COMMIT that fails after its frames were written ends the process without an answer', async (t) => {
  for (const code of ['SQLITE_IOERR_SHMSIZE', 'SQLITE_IOERR_FSYNC', 'SQLITE_NOMEM']) {
    const group = open();
    const caught = catchKill(t);
    group.failing.set('COMMIT', Object.assign(new Error('from SQLite'), { code }));
    await group.run(adds('a'));
    assert.ok(caught.kills > 0, code);
    t.mock.restoreAll();
  }
});

test('a -shm file that cannot grow before the COMMIT is a refusal, since no committing frame was written', async (t) => {
  const caught = catchKill(t);
  const group = open();
  const full = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_SHMSIZE' });
  group.failing.set('BEGIN IMMEDIATE', full);
  const { answers } = await group.run(adds('a'));
  assert.ok(answers.every((answer) => 'error' in answer && answer.error.kind === 'refusal'));
  assert.equal(caught.kills, 0);
});

test('a damaged database ends the writer thread with its error, which the process can explain', async (t) => {
  const caught = catchKill(t);
  const group = open();
  const damaged = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' });
  group.failing.set('BEGIN IMMEDIATE', damaged);
  await assert.rejects(group.run(adds('a')), damaged);
  assert.equal(caught.kills, 0);
});

test('a COMMIT that finds damage ends the database with its error, and not the process', async (t) => {
  const caught = catchKill(t);
  const group = open();
  const damaged = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' });
  group.failing.set('COMMIT', damaged);
  await assert.rejects(group.run(adds('a')), damaged);
  assert.equal(caught.kills, 0);
});

test('a group ends when its time is over, and its first write runs however long it takes', async () => {
  const { run } = open();
  const half = { name: takeTime.name, input: GROUP_MS / 2 };
  assert.equal((await run(half, half, half)).answers.length, 2);
  assert.equal((await run({ name: takeTime.name, input: GROUP_MS }, half)).answers.length, 1);
});
