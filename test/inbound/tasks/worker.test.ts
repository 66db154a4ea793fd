import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { ReceivedTaskRow } from '../../../src/db/inbound-tables.ts';
import { moveReceivedTasks, releaseTasks } from '../../../src/inbound/tasks/store.ts';
import { createTaskWork, type TaskKindWork, type TaskOutcome } from '../../../src/inbound/tasks/worker.ts';
import { startWork } from '../../../src/system/worker.ts';
import { type ReceivedWorld, shareReceivedWorld } from '../received-world.ts';

const inWorld = shareReceivedWorld();

const MINUTE = 60_000;
/** Minimum time between two readings of the list of queues. */
const LIST_INTERVAL = 20;
/** Length of a lease. */
const LEASE = 2 * MINUTE;

type Run = TaskKindWork['run'];

/** Starts the work of forwards for the duration of a test. */
async function whileRunning(
  { test: { app }, clock }: ReceivedWorld,
  run: Run,
  during: () => Promise<void>,
  { concurrency = 8, runId = app.runId } = {},
): Promise<void> {
  const work = createTaskWork({ ...app, runId }, { kind: 'forward', concurrency, run });
  const running = startWork(app, work);
  try {
    await during();
  } finally {
    await Promise.all([running.stop(0), clock.advance(0)]);
  }
}

const answer =
  (outcome: TaskOutcome): Run =>
  async () =>
    outcome;
const DONE = answer({ kind: 'done' });
const forwards = (count: number) => Array.from({ length: count }, () => ({ kind: 'forward' as const }));
const summary = ({ state, attempts, dueAt, error }: ReceivedTaskRow) => ({ state, attempts, dueAt, error });
const allEnded = (world: ReceivedWorld) => async () =>
  (await world.tasks()).every(({ endedAt }) => endedAt !== null);

test('a task is run with its message, and the message ends with its last task', () =>
  inWorld(async (world) => {
    const id = await world.receive([...forwards(2), { kind: 'post' }]);
    const seen: string[] = [];
    const run: Run = async ({ messageId }) => {
      seen.push(messageId);
      return { kind: 'done', response: { status: 202, timeMs: 7, body: 'ok' } };
    };
    await whileRunning(world, run, () =>
      world.until(
        'both are done',
        async () => (await world.tasks()).filter((one) => one.endedAt).length === 2,
      ),
    );
    assert.deepEqual(seen, [id, id]);
    const [first, , post] = await world.tasks();
    assert.deepEqual([first?.state, first?.endedAt, first?.runId], ['done', world.clock.now(), null]);
    assert.deepEqual([first?.responseStatus, first?.responseTimeMs, first?.responseBody], [202, 7, 'ok']);
    // The post waits for the work of its own kind, and keeps the message open.
    assert.equal(post?.state, 'pending');
    assert.equal((await world.messages())[0]?.endedAt, null);
    await world.side
      .updateTable('receivedTasks')
      .set({ kind: 'forward', dueAt: world.clock.now() })
      .where('kind', '=', 'post')
      .execute();
    await whileRunning(world, DONE, () => world.until('all are done', allEnded(world)));
    assert.equal((await world.messages())[0]?.endedAt, world.clock.now());
  }));

test('a failure affects no other task, and is final', () =>
  inWorld(async (world) => {
    await world.receive(forwards(2));
    const run: Run = async ({ position }) =>
      position === 0 ? { kind: 'failed', error: 'Nobody takes it' } : { kind: 'done' };
    await whileRunning(world, run, () => world.until('both have ended', allEnded(world)));
    assert.deepEqual((await world.tasks()).map(summary), [
      { state: 'failed', attempts: 1, dueAt: null, error: 'Nobody takes it' },
      { state: 'done', attempts: 1, dueAt: null, error: null },
    ]);
    assert.match(world.logged[0]?.msg ?? '', /given up/);
  }));

test('a task is retried by the schedule of webhooks, not before the time that it asks for, and then given up', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    const start = world.clock.now();
    const times: number[] = [];
    const run: Run = async ({ attempts }) => {
      times.push(Math.floor((world.clock.now() - start) / 1_000));
      return { kind: 'retry', error: 'Try later', afterMs: attempts === 1 ? MINUTE : undefined };
    };
    await whileRunning(world, run, async () => {
      for (let attempt = 1; attempt <= 8; attempt++) {
        await world.until(`attempt ${attempt} is settled`, async () => {
          const [task] = await world.tasks();
          return task?.attempts === attempt && task.runId === null;
        });
        const [task] = await world.tasks();
        // The list of queues may be as old as that.
        if (task?.dueAt) await world.clock.advance(task.dueAt - world.clock.now() + LIST_INTERVAL);
      }
    });
    const [MINUTES, HOURS] = [60, 3_600];
    const delays = [MINUTES, 5 * MINUTES, 30 * MINUTES, 2 * HOURS, 5 * HOURS, 10 * HOURS, 10 * HOURS];
    let at = 0;
    assert.deepEqual(times, [0, ...delays.map((delay) => (at += delay))]);
    const [task] = await world.tasks();
    assert.ok(task);
    assert.deepEqual(summary(task), { state: 'failed', attempts: 8, dueAt: null, error: 'Try later' });
    assert.equal((await world.messages())[0]?.endedAt, task.endedAt);
  }));

test('a bug in a task is logged, and the task is tried again', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    const run: Run = () => Promise.reject(new Error('a bug'));
    await whileRunning(world, run, () =>
      world.until('it is due again', async () => (await world.tasks())[0]?.error !== null),
    );
    const [task] = await world.tasks();
    assert.deepEqual([task?.state, task?.dueAt], ['pending', world.clock.now() + 5_000]);
    assert.equal((world.logged[0]?.['err'] as Error | undefined)?.message, 'a bug');
  }));

test('a task whose outcome cannot be stored yet is not run again', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    await sql`CREATE TRIGGER full_disk BEFORE UPDATE OF state ON receivedTasks
      BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`.execute(world.side);
    await whileRunning(world, DONE, async () => {
      await world.until('it was tried', () => world.logged.length > 0);
      await sql`DROP TRIGGER full_disk`.execute(world.side);
      await world.until('it has ended', async () => {
        await world.clock.advance(1_000);
        return allEnded(world)();
      });
    });
    assert.equal((await world.tasks())[0]?.attempts, 1);
  }));

test('tasks that an earlier run left leased are run at once, and those of another kind stay with their own run', () =>
  inWorld(async (world) => {
    await world.receive([...forwards(1), { kind: 'bounce' }]);
    const { side } = world;
    const dueAt = world.clock.now() + LEASE;
    await side.updateTable('receivedTasks').set({ runId: 'earlier', attempts: 1, dueAt }).execute();
    await whileRunning(world, DONE, () =>
      world.until('it has ended', async () => (await world.tasks())[0]?.state === 'done'),
    );
    const [forward, post] = await world.tasks();
    assert.deepEqual([forward?.attempts, post?.runId, post?.dueAt], [2, 'earlier', dueAt]);
    assert.match(world.logged[0]?.msg ?? '', /interrupted/);
  }));

test('a series of crashes does not use up the attempts of a task within a minute', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    const { app } = world.test;
    const delays: number[] = [];
    for (let attempts = 1; attempts <= 8; attempts++) {
      const now = world.clock.now();
      await world.side
        .updateTable('receivedTasks')
        .set({ runId: `run ${attempts}`, attempts })
        .execute();
      assert.equal(await app.db.commit(releaseTasks, { kind: 'forward', now, runId: app.runId }), 1);
      const [task] = await world.tasks();
      delays.push(((task?.dueAt ?? 0) - now) / 1_000);
    }
    assert.deepEqual(delays, [0, 0, 0, 5, 300, 1_800, 7_200, 0]);
  }));

test('a task whose lease runs out is run again, and only the later run settles it, whichever ends first', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    const runs = [Promise.withResolvers<TaskOutcome>(), Promise.withResolvers<TaskOutcome>()];
    const run: Run = ({ attempts }) =>
      runs[attempts - 1]?.promise ?? Promise.reject(new Error('a third run'));
    const attempts = (count: number) => async () => (await world.tasks())[0]?.attempts === count;
    await whileRunning(world, run, async () => {
      await world.until('it runs', attempts(1));
      await world.clock.advance(LEASE);
      await world.until('it runs again', attempts(2));
      runs[0]?.resolve({ kind: 'failed', error: 'too late' });
      await world.until('that is logged', () => world.logged.length > 0);
      assert.equal((await world.tasks())[0]?.state, 'pending');
      runs[1]?.resolve({ kind: 'done' });
      await world.until('it has ended', allEnded(world));
    });
    assert.equal((await world.tasks())[0]?.state, 'done');
    assert.match(world.logged[0]?.msg ?? '', /after its lease ran out/);
  }));

test('a task that was interrupted at each attempt has failed', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    await world.side.updateTable('receivedTasks').set({ runId: 'earlier', attempts: 8 }).execute();
    const run: Run = () => Promise.reject(new Error('it must not run'));
    await whileRunning(world, run, () => world.until('it has ended', allEnded(world)));
    const [task] = await world.tasks();
    assert.deepEqual([task?.state, task?.error], ['failed', 'The last attempt was interrupted']);
    const isTold = () => world.logged.some(({ msg }) => msg === 'a task of received mail was given up');
    await world.until('the operator is told', isTold);
    assert.notEqual((await world.messages())[0]?.endedAt, null);
  }));

test('a tenant with many slow tasks leaves slots for a tenant that comes later', () =>
  inWorld(async (world) => {
    await world.receive(forwards(20));
    const { tenantId } = await world.test.addTenant('second');
    const ends: (() => void)[] = [];
    const owners: (string | null)[] = [];
    const run: Run = (task) => {
      owners.push(task.tenantId);
      return new Promise((resolve) => ends.push(() => resolve({ kind: 'done' })));
    };
    await whileRunning(
      world,
      run,
      async () => {
        await world.until('the first tenant has its share', () => owners.length === 6);
        await world.receive([{ kind: 'forward', tenantId }], { tenantId });
        await world.clock.advance(LIST_INTERVAL);
        await world.until('the second tenant is served', () => owners.includes(tenantId));
        assert.equal(owners.length, 7);
        await world.until('all have ended', async () => {
          for (const end of ends.splice(0)) end();
          await world.clock.advance(LIST_INTERVAL);
          return allEnded(world)();
        });
      },
      { concurrency: 8 },
    );
  }));

test('a clock that is set back delays no task', () =>
  inWorld(async (world) => {
    await world.receive([...forwards(1), { kind: 'bounce' }, { kind: 'mailbox', targetId: 'mbx_2' }]);
    const now = world.clock.now();
    await world.side
      .updateTable('receivedTasks')
      .set({ dueAt: now + 90 * MINUTE })
      .execute();
    await moveReceivedTasks(world.test.app.db, { now, setBackMs: 60 * MINUTE });
    assert.deepEqual(
      (await world.tasks()).map(({ dueAt }) => dueAt),
      [now, now, now].map((at) => at + 30 * MINUTE),
    );
  }));

test('the points at which a fault test ends the daemon are before, after and behind the run of a task', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    const reached: string[] = [];
    world.knobs.crashPoint = (name, kind) => void reached.push(`${name}/${kind}`);
    const run: Run = async () => {
      reached.push('run');
      return { kind: 'done' };
    };
    await whileRunning(world, run, () => world.until('it is settled', () => reached.length === 4));
    assert.deepEqual(reached, [
      'inbound-task-leased/forward',
      'run',
      'inbound-task-run/forward',
      'inbound-task-settled/forward',
    ]);
  }));
