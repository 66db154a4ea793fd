/** What the engine does when clocks jump, writes fail, tasks are many and queues are broken: its guards, one by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Write } from '../../src/db/operation.ts';
import { leaseOf, type TaskKind } from '../../src/tasks/kind.ts';
import { completeTask } from '../../src/tasks/store.ts';
import { moveTasks } from '../../src/tasks/upkeep.ts';
import { database, inWorld, START, tx } from './engine-world.ts';

const HOUR_MS = 3_600_000;
type World = Parameters<Parameters<typeof inWorld>[1]>[0];

/** Sets the wall clock of a world, while its monotonic clock goes on. */
function setClock({ clock }: World, jumpMs: number): void {
  const before = clock.now;
  clock.now = () => before() + jumpMs;
}

/** Lets something happen in place of the next write of this name. */
function interrupt({ app }: World, name: string, happen: (go: () => Promise<never>) => Promise<never>): void {
  const { commit } = app.db;
  app.db.commit = async (write, input) => {
    if ((write as unknown as Write<never, never>).name !== name) return commit(write, input);
    app.db.commit = commit;
    return happen(() => commit(write, input));
  };
}

/** A kind whose runs end at once. */
const prompt = (ran: string[]): Partial<TaskKind> => ({
  async run(task) {
    ran.push(task.reference);
    return completeTask.run(tx, leaseOf(task));
  },
});

/** Adds due tasks in one statement; `queue` is an expression over the number `i` of the task. */
function addMany(count: number, queue: string): void {
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
    INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
    SELECT 'kind', 'many' || i, ${queue}, 'ten_a', ${START} + i FROM n`);
}

test('when the clock is set forward, what is due then runs within half a minute, and once', () => {
  const ran: string[] = [];
  return inWorld(prompt(ran), async (world) => {
    await world.add(['in an hour'], { dueAt: START + HOUR_MS });
    await world.add(['in a day'], { dueAt: START + 24 * HOUR_MS });
    await world.start();
    setClock(world, HOUR_MS);
    await world.clock.advance(31_000);
    assert.deepEqual(ran, ['in an hour']);
    await world.clock.advance(HOUR_MS);
    assert.deepEqual(ran, ['in an hour']);
  });
});

test('when the clock is set back and the due times are moved, tasks run as planned', () => {
  const ran: string[] = [];
  return inWorld(prompt(ran), async (world) => {
    await world.add(['in a minute'], { dueAt: START + 60_000 });
    await world.start();
    setClock(world, -HOUR_MS);
    await world.add(['new']);
    await moveTasks(world.app.db as never, { now: world.clock.now(), setBackMs: HOUR_MS });
    await world.wake();
    assert.deepEqual(ran, ['new']);
    await world.clock.advance(60_000);
    assert.deepEqual(ran, ['new', 'in a minute']);
  });
});

test('a lease that fails gives its slots back', () =>
  inWorld({ concurrency: 1 }, async (world) => {
    await world.add(['a']);
    interrupt(world, 'tasks.lease', () => Promise.reject(new Error('the disk is full')));
    await world.start();
    assert.deepEqual(world.started, []);
    await world.clock.advance(1_000);
    assert.deepEqual(world.started, ['a']);
  }));

test('a task whose end could not be stored for minutes is released once writes succeed, and runs again', () => {
  const ran: string[] = [];
  return inWorld({ backOff: () => 1_000 }, async (world) => {
    const { commit } = world.app.db;
    world.kind.run = async (task) => {
      ran.push(task.reference);
      task.free();
      return world.app.db.commit(completeTask, leaseOf(task) as never);
    };
    await world.add(['a']);
    let isFull = true;
    world.app.db.commit = async (write, input) => {
      const { name } = write as unknown as Write<never, never>;
      if (isFull && name !== 'tasks.lease') throw new Error('the disk is full');
      return commit(write, input);
    };
    await world.start();
    await world.clock.advance(180_000);
    assert.deepEqual([ran, (await world.find('a'))?.attempts], [['a'], 1]);
    isFull = false;
    await world.clock.advance(2_000);
    assert.deepEqual(ran, ['a', 'a']);
    assert.equal(await world.find('a'), undefined);
  });
});

test('a task that is leased while the engine stops is aborted at once, and waits for the next start', () => {
  const run: TaskKind['run'] = async (task) => {
    task.signal.throwIfAborted();
    return completeTask.run(tx, leaseOf(task));
  };
  return inWorld({ run }, async (world) => {
    await world.add(['a']);
    const stopping = Promise.withResolvers<void>();
    interrupt(world, 'tasks.lease', async (go) => {
      await stopping.promise;
      return go();
    });
    await world.start();
    const stopped = world.stop(1_000);
    stopping.resolve();
    await stopped;
    const { attempts, runId } = (await world.find('a')) ?? {};
    assert.deepEqual([attempts, runId], [0, null]);
  });
});

test('a task whose run throws always does not delay the others of its queue', () => {
  const ran: string[] = [];
  const run: TaskKind['run'] = async (task) => {
    ran.push(task.reference);
    if (task.reference === 'poison') throw new Error('always');
    return completeTask.run(tx, leaseOf(task));
  };
  return inWorld({ concurrencyPerQueue: 1, run }, async (world) => {
    await world.add(['poison'], { dueAt: START - 1 });
    await world.add(['a', 'b']);
    await world.start();
    assert.deepEqual(ran, ['poison', 'a', 'b']);
    await world.clock.advance(10_000);
    assert.deepEqual(ran.slice(3), ['poison', 'poison']);
    assert.notEqual((await world.find('poison'))?.error, null);
  });
});

test('a change of a queue that could not be read is read again a second later', () => {
  const ran: string[] = [];
  let isBroken = false;
  const rules = async () => {
    if (isBroken) throw new Error('the disk is broken');
    return {};
  };
  return inWorld({ ...prompt(ran), rules }, async (world) => {
    await world.start();
    await world.add(['a']);
    isBroken = true;
    await world.wake(['q']);
    isBroken = false;
    assert.deepEqual(ran, []);
    await world.clock.advance(1_000);
    assert.deepEqual(ran, ['a']);
  });
});

test('wake-ups that name no queue, however many, make few passes through the queues', () => {
  let reads = 0;
  const rules = async () => {
    reads++;
    return { pausedUntil: START + HOUR_MS };
  };
  return inWorld({ rules }, async (world) => {
    await world.add(['a']);
    await world.start();
    for (let count = 0; count < 1_000; count++) {
      world.wakeups.notify('tasks');
      await world.clock.advance(1);
    }
    assert.ok(reads > 1 && reads < 15, `${reads}`);
  });
});

test('of a tenant with very many queues, 5,000 are kept in memory', () => {
  const known = new Set<string>();
  const rules = async (queue: string) => {
    known.add(queue);
    return { pausedUntil: START + HOUR_MS };
  };
  return inWorld({ rules }, async (world) => {
    addMany(6_000, "'a' || i");
    await world.start();
    await world.clock.advance(1_000);
    assert.equal(known.size, 5_000);
  });
});

test('tasks that an earlier run left leased run again, also when one write does not release them all', () => {
  const ran: string[] = [];
  return inWorld({ concurrency: 100, perFree: Number.POSITIVE_INFINITY, ...prompt(ran) }, async (world) => {
    addMany(1_200, "'q'");
    database.exec("UPDATE tasks SET runId = 'earlier', dueAt = NULL, attempts = 1");
    await world.start();
    await world.clock.advance(100);
    assert.equal(new Set(ran).size, 1_200);
    assert.equal(world.lines.length, 1);
    assert.equal(world.lines[0]?.['count'], 1_200);
  });
});

test('the one task of a tenant runs among the first, beside 100,000 of another tenant that are due before it', () =>
  inWorld({ concurrency: 8 }, async (world) => {
    addMany(100_000, "'a' || (i % 100)");
    await world.add(['one'], { queueKey: 'z', tenantId: 'ten_z', dueAt: START + 100_000 });
    setClock(world, 100_000);
    await world.start();
    assert.ok(world.started.indexOf('one') >= 0 && world.started.length <= 8, `${world.started}`);
  }));
