import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTasks, wakeTasks } from '../../src/tasks/engine.ts';
import { leaseOf, type QueueRules, type RunningTask, type TaskKind } from '../../src/tasks/kind.ts';
import {
  cancelTask,
  completeTask,
  findTask,
  leaseTasks,
  retryTask,
  subjectOf,
  type TaskEnd,
} from '../../src/tasks/store.ts';
import { database, inWorld, START, tx } from './engine-world.ts';

test('due tasks run, and others when they fall due; a done one is gone', () =>
  inWorld({}, async (world) => {
    await world.add(['now']);
    await world.add(['soon'], { dueAt: world.clock.now() + 5_000 });
    await world.start();
    assert.deepEqual(world.started, ['now']);
    await world.running.get('now')?.end();
    assert.equal(await world.find('now'), undefined);
    await world.clock.advance(4_000);
    assert.deepEqual(world.started, ['now']);
    await world.clock.advance(1_000);
    assert.deepEqual(world.started, ['now', 'soon']);
  }));

test('no more tasks of the kind and of a queue run than may, whatever waits', () =>
  inWorld({ concurrency: 3, concurrencyPerQueue: 2, perFree: Number.POSITIVE_INFINITY }, async (world) => {
    await world.add(['a1', 'a2', 'a3'], { queueKey: 'a' });
    await world.add(['b1', 'b2'], { queueKey: 'b' });
    await world.start();
    assert.deepEqual([...world.started].sort(), ['a1', 'a2', 'b1']);
    await world.running.get('b1')?.end();
    assert.deepEqual(world.started.slice(3), ['b2']);
    await world.running.get('a1')?.end();
    assert.deepEqual(world.started.slice(4), ['a3']);
  }));

/** Runs that give their slots back at once, and whose ends are stored when the test says so. */
function freeingRuns() {
  const ran: string[] = [];
  const stored = Promise.withResolvers<void>();
  async function run(task: RunningTask): Promise<TaskEnd> {
    ran.push(task.reference);
    task.free();
    await stored.promise;
    return completeTask.run(tx, leaseOf(task));
  }
  return { ran, run, store: stored.resolve };
}

test('a run that gives its slot back lets another task run before its end is stored, and a stop waits for that end', () =>
  inWorld({}, async (world) => {
    const { ran, run, store } = freeingRuns();
    await world.add(['a', 'b'], { kind: 'freeing' });
    const kind = { name: 'freeing', leavesHost: false, concurrency: 1, backOff: () => undefined, run };
    const work = startTasks(world.app, [kind]);
    await world.clock.advance(10);
    assert.deepEqual(ran, ['a', 'b']);
    let hasStopped = false;
    const stopped = work.stop(60_000).then(() => {
      hasStopped = true;
    });
    await world.clock.advance(10);
    assert.equal(hasStopped, false);
    store();
    await stopped;
    assert.equal(await findTask(tx, { kind: 'freeing', reference: 'a' }), undefined);
  }));

test('a task that is scheduled while its end is stored, its slot free already, runs again at once', () => {
  const { ran, run, store } = freeingRuns();
  return inWorld({ run }, async (world) => {
    await world.add(['a']);
    await world.start();
    await world.add(['a']);
    store();
    await world.clock.advance(10);
    assert.deepEqual(ran, ['a', 'a']);
  });
});

test('a wake-up makes a new task run at once, with the name of its queue or without, and one of another kind does not', () =>
  inWorld({}, async (world) => {
    await world.start();
    await world.add(['a']);
    wakeTasks(world.app, 'other');
    wakeTasks(world.app, 'other', ['q']);
    await world.clock.advance(200);
    assert.deepEqual(world.started, []);
    await world.wake(['q']);
    await world.add(['b'], { queueKey: 'r' });
    await world.wake();
    assert.deepEqual(world.started, ['a', 'b']);
  }));

test('a task whose wake-up was lost runs within half a minute', () =>
  inWorld({}, async (world) => {
    await world.start();
    await world.add(['a']);
    await world.clock.advance(31_000);
    assert.deepEqual(world.started, ['a']);
  }));

test('a task whose run throws is run again by the back-off of its kind, and then given up and shown', () =>
  inWorld({}, async (world) => {
    await world.add(['a', 'b']);
    await world.start();
    for (const delayMs of [1_000, 2_000]) {
      await world.running.get('a')?.fail(new Error('a bug'));
      assert.equal((await world.find('a'))?.dueAt, world.clock.now() - 1 + delayMs);
      await world.clock.advance(delayMs);
    }
    await world.running.get('a')?.fail(new Error('a bug'));
    const { dueAt, runId, attempts, error } = (await world.find('a')) ?? {};
    assert.deepEqual({ dueAt, runId, attempts }, { dueAt: null, runId: null, attempts: 3 });
    assert.equal(error, 'a bug');
    assert.equal(world.lines.filter(({ msg }) => msg === 'a task failed').length, 3);
    assert.equal(world.lines.at(-1)?.msg, 'a task is given up');
    await world.clock.advance(100_000);
    assert.deepEqual(world.started, ['a', 'b', 'a', 'a'], 'it does not run again');
  }));

test('a feature stores in its own row that a task is given up; when it cannot, the task shows it', () => {
  const given: string[] = [];
  const giveUp = async (task: Parameters<NonNullable<TaskKind['giveUp']>>[0], error: string) => {
    given.push(error);
    if (task.reference === 'broken') throw new Error('no');
    return completeTask.run(tx, leaseOf(task));
  };
  return inWorld({ backOff: () => undefined, giveUp }, async (world) => {
    await world.add(['a', 'broken']);
    await world.start();
    for (const name of ['a', 'broken']) await world.running.get(name)?.fail(new Error('a bug'));
    assert.equal(given.length, 2);
    assert.equal(await world.find('a'), undefined);
    assert.notEqual((await world.find('broken'))?.error, null);
  });
});

test('tasks that an earlier run left leased run at once, those that were interrupted often later, and at last they are given up', () =>
  inWorld({ backOff: (attempts) => (attempts < 8 ? 5_000 : undefined) }, async (world) => {
    const interrupt = async (reference: string, attempts: number) => {
      await world.add([reference], { queueKey: reference });
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const claims = [{ queueKey: reference, limit: 1 }];
        const [task] = await leaseTasks.run(tx, { kind: 'kind', now: START, runId: 'earlier', claims });
        assert.ok(task);
        if (attempt < attempts) await retryTask.run(tx, { lease: task, dueAt: START });
      }
    };
    await interrupt('once', 1);
    await interrupt('often', 4);
    await interrupt('always', 8);
    await world.start();
    assert.deepEqual(world.started, ['once']);
    assert.match(world.lines[0]?.msg ?? '', /interrupted/);
    await world.clock.advance(5_000);
    assert.deepEqual(world.started, ['once', 'often']);
    assert.match((await world.find('always'))?.error ?? '', /interrupted/);
  }));

test('a paused queue waits, limits hold across queues, and what holds is asked again after a run and a wake-up', () => {
  const rules = new Map<string, QueueRules>();
  return inWorld({ rules: async (queue) => rules.get(queue) ?? {} }, async (world) => {
    const host = [{ key: 'host', max: 1 }];
    rules.set('a', { limits: host });
    rules.set('b', { limits: host });
    rules.set('c', { pausedUntil: START + 3_600_000 });
    for (const queue of ['a', 'b', 'c']) await world.add([`${queue}1`], { queueKey: queue });
    await world.start();
    assert.deepEqual(world.started, ['a1']);
    await world.running.get('a1')?.end();
    assert.deepEqual(world.started, ['a1', 'b1']);
    rules.delete('c');
    await world.wake(['c']);
    assert.deepEqual(world.started, ['a1', 'b1', 'c1']);
  });
});

test('a stop aborts the signals; a run that ends by it does not count, and the next start runs it again', () =>
  inWorld({}, async (world) => {
    await world.add(['a']);
    await world.start();
    await world.stop(5);
    const { attempts, runId, dueAt } = (await world.find('a')) ?? {};
    assert.deepEqual({ attempts, runId, isDue: dueAt !== null }, { attempts: 0, runId: null, isDue: true });
    await world.start('next run');
    assert.deepEqual(world.started, ['a', 'a']);
  }));

test('a canceled task ends its run, and what the run then stores is ignored', () =>
  inWorld({}, async (world) => {
    await world.add(['a', 'b']);
    await world.start();
    await cancelTask(tx, { kind: 'kind', reference: 'a' });
    world.wakeups.notify('canceledTasks', [subjectOf('kind', 'a')]);
    assert.deepEqual(
      ['a', 'b'].map((name) => world.running.get(name)?.task.signal.aborted),
      [true, false],
    );
    await world.running.get('a')?.end();
    assert.equal(await world.find('a'), undefined);
  }));

test('the run of a canceled task, which ignores its signal, does not end the lease of the same task that was scheduled anew', () => {
  const runs: { task: RunningTask; end(): void }[] = [];
  const run = async (task: RunningTask) => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    runs.push({ task, end });
    await promise;
    return completeTask.run(tx, leaseOf(task));
  };
  return inWorld({ run }, async (world) => {
    const cancel = async () => {
      await cancelTask(tx, { kind: 'kind', reference: 'a' });
      world.wakeups.notify('canceledTasks', [subjectOf('kind', 'a')]);
    };
    await world.add(['a']);
    await world.start();
    await cancel();
    await world.add(['a']);
    await world.wake();
    const [first, second] = runs;
    assert.ok(first && second);
    first.end();
    await world.clock.advance(10);
    assert.notEqual((await world.find('a'))?.runId ?? null, null);
    assert.equal(second.task.signal.aborted, false);
    await cancel();
    assert.equal(second.task.signal.aborted, true);
    second.end();
  });
});

test('a queue that never answers keeps its own slots, and others are served', () =>
  inWorld({ concurrency: 8, concurrencyPerQueue: 2 }, async (world) => {
    await world.add(['dead1', 'dead2', 'dead3'], { queueKey: 'dead', tenantId: 'ten_a' });
    await world.start();
    for (let index = 0; index < 20; index++) {
      await world.add([`live${index}`], { queueKey: 'live', tenantId: 'ten_b' });
      await world.wake(['live']);
      await world.running.get(`live${index}`)?.end();
    }
    assert.equal(world.started.length, 22);
    assert.ok(!world.started.includes('dead3'));
  }));

test('a tenant with many thousand queues does not delay one with one, and all its own are served', () =>
  inWorld({ concurrency: 100 }, async (world) => {
    const count = 6_000;
    database.exec(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
      INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
      SELECT 'kind', 'a' || i, 'a' || i, 'ten_a', ${START} FROM n`);
    await world.add(['z'], { queueKey: 'z', tenantId: 'ten_z' });
    await world.start();
    await world.clock.advance(200);
    assert.ok(world.started.includes('z'));
    for (let rounds = 0; world.started.length <= count && rounds < 2_000; rounds++) {
      for (const [name, { resolve }] of world.running) {
        world.running.delete(name);
        resolve();
      }
      await world.clock.advance(20);
    }
    assert.equal(world.started.length, count + 1);
    assert.equal(new Set(world.started).size, count + 1);
  }));

test('tasks that leave the host wait while the gate is held, and run once it is released', () =>
  inWorld({ leavesHost: true }, async (world) => {
    world.app.egress.hold();
    await world.add(['a']);
    await world.start();
    await world.clock.advance(3_600_000);
    assert.deepEqual(world.started, []);
    world.app.egress.release();
    world.wakeups.notify('tasks');
    await world.clock.advance(10);
    assert.deepEqual(world.started, ['a']);
    await world.running.get('a')?.end();
  }));

test('other tasks run while the gate is held', () =>
  inWorld({}, async (world) => {
    world.app.egress.hold();
    await world.add(['a']);
    await world.start();
    assert.deepEqual(world.started, ['a']);
    await world.running.get('a')?.end();
  }));
