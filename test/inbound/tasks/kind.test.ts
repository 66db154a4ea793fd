import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { ReceivedTaskRow } from '../../../src/db/inbound-tables.ts';
import { createReceivedKind, type TaskOutcome } from '../../../src/inbound/tasks/kind.ts';
import { deleteTasksOf } from '../../../src/inbound/tasks/store.ts';
import { startTasks } from '../../../src/tasks/engine.ts';
import { leaseTasksOf, runDueTasks } from '../../support/tasks.ts';
import { type ReceivedWorld, shareReceivedWorld } from '../received-world.ts';

const inWorld = shareReceivedWorld();

type Run = Parameters<typeof createReceivedKind>[1]['run'];

/** Runs the forwards for the duration of a test. */
async function whileRunning(
  { test: { app }, clock }: ReceivedWorld,
  run: Run,
  during: () => Promise<void>,
): Promise<void> {
  const running = startTasks(app, [createReceivedKind(app, { kind: 'forward', concurrency: 8, run })]);
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

test('a task is run with its message, and the message ends with its last task, of whatever kind', () =>
  inWorld(async (world) => {
    const id = await world.receive([...forwards(2), { kind: 'bounce' }]);
    const seen: string[] = [];
    const run: Run = async ({ messageId }) => {
      seen.push(messageId);
      return { kind: 'done' };
    };
    await whileRunning(world, run, () =>
      world.until(
        'both are done',
        async () => (await world.tasks()).filter((one) => one.endedAt).length === 2,
      ),
    );
    assert.deepEqual(seen, [id, id]);
    const [first, , bounce] = await world.tasks();
    assert.deepEqual([first?.state, first?.endedAt, first?.runId], ['done', world.clock.now(), null]);
    // The bounce waits for the work of its own kind, and keeps the message open.
    assert.deepEqual([bounce?.state, bounce?.dueAt], ['pending', bounce?.createdAt]);
    assert.equal((await world.messages())[0]?.endedAt, null);
    const { app } = world.test;
    const bounces = createReceivedKind(app, { kind: 'bounce', concurrency: 1, run: DONE });
    assert.equal((await runDueTasks(app, bounces)).length, 1);
    assert.equal((await world.messages())[0]?.endedAt, world.clock.now());
  }));

test('a task whose message is deleted while it runs is not stored any more', () =>
  inWorld(async (world) => {
    const id = await world.receive(forwards(2));
    const run: Run = async () => {
      await deleteTasksOf(world.side, id);
      return { kind: 'done' };
    };
    const { app } = world.test;
    const kind = createReceivedKind(app, { kind: 'forward', concurrency: 1, run });
    const [task] = await leaseTasksOf(app, { kind: kind.name });
    assert.equal(task && (await kind.run(task)), 'stale');
    assert.deepEqual([await world.tasks(), await runDueTasks(app, kind)], [[], []]);
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

test('a task is retried by the schedule of webhooks, and then given up', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    const start = world.clock.now();
    const times: number[] = [];
    const run: Run = async () => {
      times.push(Math.floor((world.clock.now() - start) / 1_000));
      return { kind: 'retry', error: 'Try later' };
    };
    await whileRunning(world, run, async () => {
      for (let attempt = 1; attempt <= 8; attempt++) {
        await world.until(`attempt ${attempt} is settled`, async () => {
          const [task] = await world.tasks();
          return task?.attempts === attempt && task.runId === null;
        });
        const [task] = await world.tasks();
        if (task?.dueAt) await world.clock.advance(task.dueAt - world.clock.now());
      }
    });
    const [MINUTES, HOURS] = [60, 3_600];
    const delays = [5, 5 * MINUTES, 30 * MINUTES, 2 * HOURS, 5 * HOURS, 10 * HOURS, 10 * HOURS];
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

test('a task that was interrupted at each attempt has failed', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    await world.side.updateTable('tasks').set({ runId: 'earlier', attempts: 8, dueAt: null }).execute();
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
    await whileRunning(world, run, async () => {
      await world.until('the first tenant has its share', () => owners.length === 6);
      await world.receive([{ kind: 'forward', tenantId }], { tenantId });
      await world.until('the second tenant is served', () => owners.includes(tenantId));
      assert.equal(owners.length, 7);
      await world.until('all have ended', async () => {
        for (const end of ends.splice(0)) end();
        return allEnded(world)();
      });
    });
  }));

test('the points at which a fault test ends the daemon are before, after and behind the run of a task', () =>
  inWorld(async (world) => {
    await world.receive(forwards(1));
    const reached: string[] = [];
    world.knobs.crashPoint = (name, kind) => void (kind && reached.push(`${name}/${kind}`));
    const run: Run = async () => {
      reached.push('run');
      return { kind: 'done' };
    };
    await whileRunning(world, run, () => world.until('it is settled', () => reached.length === 4));
    assert.deepEqual(reached, [
      'task-leased/received-forward',
      'run',
      'inbound-task-run/forward',
      'task-settled/received-forward',
    ]);
  }));
