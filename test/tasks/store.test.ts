import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { countTasks, MAX_COUNTED_TASKS } from '../../src/tasks/read-store.ts';
import {
  cancelTask,
  cancelWaiting,
  completeTask,
  failTask,
  findTask,
  findWaitingQueue,
  type LeasedTask,
  leaseTasks,
  listLeased,
  listWaitingQueues,
  moveDueTasks,
  type NewTask,
  retryTask,
  scheduleTask,
} from '../../src/tasks/store.ts';
import { explain } from '../support/explain.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

const NOW = 1_000_000;
const { tx, database, close } = openMemoryDatabase();
after(close);
beforeEach(() => void database.exec('DELETE FROM tasks'));

const KIND = 'posts';
const FIRST = { kind: '', reference: '' };

function add(reference: string, task: Partial<NewTask> = {}): Promise<void> {
  return scheduleTask(tx, { kind: KIND, reference, queueKey: 'q', tenantId: null, dueAt: NOW, ...task });
}

function lease(limit = 10, { now = NOW, runId = 'run', queue = 'q' } = {}): Promise<LeasedTask[]> {
  return leaseTasks.run(tx, { kind: KIND, now, runId, claims: [{ queueKey: queue, limit }] });
}

async function leaseOne(): Promise<LeasedTask> {
  const [task] = await lease(1);
  assert.ok(task);
  return task;
}

const find = (reference: string) => findTask(tx, { kind: KIND, reference });

test('the longest due tasks of a queue are leased once, each with its attempt', async () => {
  await add('late', { dueAt: NOW - 1 });
  await add('later', { dueAt: NOW });
  await add('not yet', { dueAt: NOW + 1 });
  await add('another', { queueKey: 'other' });
  await add('foreign', { kind: 'else' });
  assert.deepEqual(
    (await lease(1)).map(({ reference, attempts, runId }) => [reference, attempts, runId]),
    [['late', 1, 'run']],
  );
  assert.deepEqual(
    (await lease()).map(({ reference }) => reference),
    ['later'],
  );
  assert.deepEqual(await lease(), []);
});

test('a done task is gone, and the result of another lease changes nothing', async () => {
  await add('a');
  const task = await leaseOne();
  for (const other of [{ runId: 'other' }, { attempts: 2 }, { reference: 'b' }]) {
    assert.equal(await completeTask.run(tx, { ...task, ...other }), 'stale');
    assert.equal(await retryTask.run(tx, { lease: { ...task, ...other }, dueAt: NOW }), 'stale');
    assert.equal(await failTask.run(tx, { lease: { ...task, ...other }, error: 'no' }), 'stale');
  }
  assert.equal(await completeTask.run(tx, task), 'done');
  assert.equal(await find('a'), undefined);
  assert.equal(await completeTask.run(tx, task), 'stale');
});

test('a task that is retried waits with its attempts, or with none after progress', async () => {
  await add('a');
  assert.equal(await retryTask.run(tx, { lease: await leaseOne(), dueAt: NOW }), 'again');
  const second = await leaseOne();
  assert.equal(second.attempts, 2);
  await retryTask.run(tx, { lease: second, dueAt: NOW, attempts: 0 });
  assert.equal((await leaseOne()).attempts, 1);
});

test('a task that is scheduled while it runs waits again at its end, whatever that is', async () => {
  for (const [end, dueAt] of [
    [(task: LeasedTask) => completeTask.run(tx, task), NOW + 5],
    [(task: LeasedTask) => failTask.run(tx, { lease: task, error: 'no' }), NOW + 5],
    [(task: LeasedTask) => retryTask.run(tx, { lease: task, dueAt: NOW + 9 }), NOW + 5],
  ] as const) {
    await add('a');
    const task = await leaseOne();
    await add('a', { dueAt });
    assert.deepEqual(await lease(), [], 'it does not run twice at the same time');
    assert.equal(await end(task), 'again');
    const row = await find('a');
    assert.deepEqual([row?.dueAt, row?.attempts, row?.runId, row?.error], [dueAt, 0, null, null]);
  }
});

test('a failed task is counted, and waits again when it is scheduled anew', async () => {
  await add('a');
  await add('b', { dueAt: NOW + 1 });
  assert.equal(await failTask.run(tx, { lease: await leaseOne(), error: 'It is broken' }), 'failed');
  assert.deepEqual(await countTasks.run(tx, undefined), [
    { kind: KIND, waiting: 1, dueAt: NOW + 1, failed: 1 },
  ]);
  assert.deepEqual(await lease(), []);
  await add('a');
  assert.deepEqual([(await find('a'))?.error, (await leaseOne()).attempts], [null, 1]);
});

test('no more tasks of a kind are counted than a reader thread may be busy with', async () => {
  database.exec(`INSERT INTO tasks (kind, reference, queueKey, dueAt)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= ${MAX_COUNTED_TASKS})
    SELECT 'many', i, 'q', ${NOW} FROM n`);
  await add('few');
  assert.deepEqual(
    (await countTasks.run(tx, undefined)).map(({ kind, waiting, dueAt }) => [kind, waiting, dueAt]),
    [
      ['many', MAX_COUNTED_TASKS, NOW],
      [KIND, 1, NOW],
    ],
  );
});

test('a canceled task is gone, and its run settles nothing', async () => {
  await add('a');
  const task = await leaseOne();
  await cancelTask(tx, task);
  assert.equal(await completeTask.run(tx, task), 'stale');
});

test('the waiting tasks of a queue are canceled, and its running ones stay', async () => {
  await add('running');
  await leaseOne();
  for (const reference of ['a', 'b', 'c']) await add(reference);
  await add('other', { queueKey: 'r' });
  assert.deepEqual(await cancelWaiting(tx, { kind: KIND, queueKey: 'q', limit: 2 }), ['a', 'b']);
  assert.deepEqual(await cancelWaiting(tx, { kind: KIND, queueKey: 'q', limit: 2 }), ['c']);
  assert.ok((await find('running')) && (await find('other')));
});

test('waiting queues are listed in slices, each with its first due task', async () => {
  await add('a2', { queueKey: 'a', dueAt: NOW + 2 });
  await add('a1', { queueKey: 'a', dueAt: NOW + 1, tenantId: 'ten_1' });
  await add('b', { queueKey: 'b' });
  await add('c', { queueKey: 'c', kind: 'else' });
  await add('q');
  await lease();
  const [a, b] = [
    { queueKey: 'a', tenantId: 'ten_1', dueAt: NOW + 1 },
    { queueKey: 'b', tenantId: null, dueAt: NOW },
  ];
  assert.deepEqual(await listWaitingQueues(tx, { kind: KIND, after: '', limit: 5 }), [a, b]);
  assert.deepEqual(await listWaitingQueues(tx, { kind: KIND, after: '', limit: 1 }), [a]);
  assert.deepEqual(await listWaitingQueues(tx, { kind: KIND, after: 'a', limit: 1 }), [b]);
  assert.deepEqual(await findWaitingQueue(tx, { kind: KIND, queueKey: 'a' }), a);
  assert.equal(await findWaitingQueue(tx, { kind: KIND, queueKey: 'q' }), undefined);
});

test('tasks that are leased are found', async () => {
  await add('a');
  await add('b');
  await lease(1, { runId: 'earlier' });
  const leased = await listLeased(tx, { kind: KIND, limit: 5 });
  assert.deepEqual(
    leased.map(({ reference, runId }) => [reference, runId]),
    [['a', 'earlier']],
  );
});

test('when the clock is set back, due times move with it, slice by slice', async () => {
  const count = 1_500;
  for (let index = 0; index < count; index++) await add(`${index}`, { dueAt: NOW + 10_000 });
  await add('due', { dueAt: NOW - 5 });
  await add('soon', { dueAt: NOW + 5 });
  let after: typeof FIRST | undefined = FIRST;
  let slices = 0;
  for (; after; slices++) after = await moveDueTasks.run(tx, { after, now: NOW, setBackMs: 1_000 });
  assert.equal(slices, 2);
  const times = await tx.selectFrom('tasks').select(['dueAt']).distinct().orderBy('dueAt').execute();
  assert.deepEqual(
    times.map(({ dueAt }) => dueAt),
    [NOW - 5, NOW, NOW + 9_000],
  );
});

test('each statement uses an index of its state, and none sorts tasks', async () => {
  const steps = await explain(async (on) => {
    await scheduleTask(on, { kind: KIND, reference: 'a', queueKey: 'q', tenantId: null, dueAt: NOW });
    await leaseTasks.run(on, { kind: KIND, now: NOW, runId: 'run', claims: [{ queueKey: 'q', limit: 1 }] });
    const task = { kind: KIND, reference: 'a', attempts: 1, runId: 'run' };
    await retryTask.run(on, { lease: task, dueAt: NOW });
    await completeTask.run(on, task);
    await findWaitingQueue(on, { kind: KIND, queueKey: 'q' });
    await listLeased(on, { kind: KIND, limit: 9 });
    await cancelWaiting(on, { kind: KIND, queueKey: 'q', limit: 9 });
    await moveDueTasks.run(on, { after: FIRST, now: NOW, setBackMs: 1 });
  });
  const listing = await explain((on) => listWaitingQueues(on, { kind: KIND, after: '', limit: 9 }));
  const ofTasks = [...steps, ...listing].filter((step) => /tasks|later/.test(step));
  assert.ok(ofTasks.length > 9);
  assert.deepEqual(
    ofTasks.filter((step) => !/USING (?:PRIMARY KEY|(?:COVERING )?INDEX tasksBy)/.test(step)),
    [],
  );
  assert.deepEqual(
    steps.filter((step) => /TEMP B-TREE/.test(step)),
    [],
  );
});
