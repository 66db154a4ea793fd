import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/system/log.ts';
import { createWakeups } from '../../src/system/wakeups.ts';
import { type Leased, periodic, type RunningWork, startWork, type Work } from '../../src/system/worker.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { waitUntil } from '../support/wait-until.ts';

type Row = { name: string; dueAt: number };

/** A table of rows that fall due, and a work over it; `finish` settles a running one. */
function openTable(change: Partial<Work<Row>> = {}) {
  const clock = createFakeClock(1_000_000);
  const wakeups = createWakeups();
  const errors: string[] = [];
  const log = Object.assign(createLog('silent'), {
    error: (_fields: object, message: string) => void errors.push(message),
  });
  const table = {
    clock,
    wakeups,
    errors,
    rows: [] as Row[],
    leases: 0,
    started: [] as string[],
    running: new Map<string, PromiseWithResolvers<void>>(),
    add: (name: string, dueAt = clock.now()) => void table.rows.push({ name, dueAt }),
    async finish(name: string, error?: Error) {
      const end = table.running.get(name);
      table.running.delete(name);
      if (error) end?.reject(error);
      else end?.resolve();
      await clock.advance(0);
    },
    start(): RunningWork {
      return startWork({ clock, wakeups, log }, { ...work, ...change });
    },
  };
  const work: Work<Row> = {
    name: 'test',
    wakeOn: ['queue', 'events'],
    concurrency: 2,
    async lease(limit) {
      table.leases += 1;
      const items = table.rows.filter((row) => row.dueAt <= clock.now()).slice(0, limit);
      table.rows = table.rows.filter((row) => !items.includes(row));
      return { items, nextDueAt: table.rows.map((row) => row.dueAt).sort((a, b) => a - b)[0] };
    },
    run({ name }) {
      table.started.push(name);
      const end = Promise.withResolvers<void>();
      table.running.set(name, end);
      return end.promise;
    },
  };
  return table;
}

test('due items run at once, and other items run when they fall due and not before', async () => {
  const table = openTable();
  table.add('now');
  table.add('soon', table.clock.now() + 5_000);
  table.start();
  await table.clock.advance(0);
  assert.deepEqual(table.started, ['now']);
  await table.clock.advance(4_999);
  assert.deepEqual(table.started, ['now']);
  await table.clock.advance(1);
  assert.deepEqual(table.started, ['now', 'soon']);
});

test('one lease answers the items and the time of the next lease, also while items run', async () => {
  const table = openTable();
  table.add('now');
  table.add('soon', table.clock.now() + 5_000);
  table.start();
  await table.clock.advance(4_999);
  assert.deepEqual([table.leases, table.started], [1, ['now']]);
  await table.clock.advance(1);
  assert.deepEqual([table.leases, table.started], [2, ['now', 'soon']]);
});

test('a due item that cannot be leased is asked for every millisecond, and does not keep the loop busy', async () => {
  const { clock } = openTable();
  let leases = 0;
  const table = openTable({
    lease: async () => {
      leases += 1;
      return { items: [], nextDueAt: leases < 100 ? clock.now() - 1 : undefined };
    },
  });
  table.start();
  await table.clock.advance(10);
  assert.equal(leases, 11);
});

for (const notice of ['queue', 'events'] as const) {
  test(`a notice it listens to wakes it (${notice})`, async () => {
    const table = openTable();
    table.start();
    await table.clock.advance(10);
    table.add('new');
    table.wakeups.notify('webhooks');
    await table.clock.advance(0);
    assert.deepEqual(table.started, [], 'a notice for others does not');
    table.wakeups.notify(notice);
    await table.clock.advance(0);
    assert.deepEqual(table.started, ['new']);
  });
}

test('a wake-up during a lease leads to another lease', async () => {
  const gate = Promise.withResolvers<Leased<Row>>();
  let leases = 0;
  const table = openTable({
    lease: async () => {
      leases += 1;
      return leases === 1 ? gate.promise : { items: [], nextDueAt: undefined };
    },
  });
  table.start();
  await table.clock.advance(0);
  table.wakeups.notify('queue');
  gate.resolve({ items: [], nextDueAt: undefined });
  await table.clock.advance(0);
  assert.equal(leases, 2);
});

test('without a wake-up, work is leased every 30 seconds', async () => {
  const table = openTable();
  table.start();
  await table.clock.advance(0);
  table.add('silent');
  await table.clock.advance(29_999);
  assert.deepEqual([table.started, table.leases], [[], 1]);
  await table.clock.advance(1);
  assert.deepEqual(table.started, ['silent']);
});

test('no more items run at a time than the concurrency, and each that ends lets another start', async () => {
  const table = openTable();
  for (const name of ['a', 'b', 'c', 'd']) table.add(name);
  table.start();
  await table.clock.advance(60_000);
  assert.deepEqual(table.started, ['a', 'b']);
  await table.finish('a');
  assert.deepEqual(table.started, ['a', 'b', 'c']);
  await table.finish('c');
  assert.deepEqual(table.started, ['a', 'b', 'c', 'd']);
});

test('leases follow each other at the interval of the work, in real time, and a stop does not wait for it', async () => {
  let leases = 0;
  const interval = 30;
  const table = openTable({
    leaseIntervalMs: interval,
    async lease() {
      leases++;
      return { items: [], nextDueAt: undefined };
    },
  });
  const startedAt = performance.now();
  const work = table.start();
  await waitUntil(() => {
    table.wakeups.notify('queue');
    return leases === 3;
  });
  // A timer can be a millisecond early.
  assert.ok(performance.now() - startedAt >= 2 * (interval - 1));
  await work.stop(0);
});

test('an item that fails is logged and frees its slot like any other', async () => {
  const table = openTable({ concurrency: 1 });
  for (const name of ['bad', 'good']) table.add(name);
  table.start();
  await table.clock.advance(0);
  await table.finish('bad', new Error('a bug'));
  assert.deepEqual([table.started, table.errors], [['bad', 'good'], ['work failed']]);
});

test('an item that fails before its first wait does not take the others of its lease with it', async () => {
  const ran: string[] = [];
  const table = openTable({
    run({ name }) {
      if (name === 'bad') throw new Error('a bug');
      ran.push(name);
      return Promise.resolve();
    },
  });
  for (const name of ['bad', 'good']) table.add(name);
  table.start();
  await table.clock.advance(0);
  assert.deepEqual([ran, table.errors], [['good'], ['work failed']]);
});

test('when rows cannot be leased it pauses a second, however many wake-ups come, and goes on', async () => {
  let failures = 0;
  let broken = true;
  const failing = openTable({
    lease: async (limit) => {
      if (broken) {
        failures += 1;
        throw new Error('the disk is full');
      }
      return { items: failing.rows.splice(0, limit), nextDueAt: undefined };
    },
  });
  failing.add('patient');
  failing.start();
  for (let count = 0; count < 50; count += 1) {
    failing.wakeups.notify('queue');
    await failing.clock.advance(10);
  }
  assert.deepEqual([failures, failing.errors], [1, ['work could not be leased']]);
  await failing.clock.advance(500);
  assert.equal(failures, 2);
  broken = false;
  await failing.clock.advance(1_000);
  assert.deepEqual(failing.started, ['patient']);
});

test('stopping leases nothing more and waits for what runs', async () => {
  const table = openTable();
  table.add('running');
  const work = table.start();
  await table.clock.advance(0);
  let stopped = false;
  const stopping = work.stop(60_000).then(() => {
    stopped = true;
  });
  table.add('later');
  table.wakeups.notify('queue');
  await table.clock.advance(59_999);
  assert.deepEqual([stopped, table.started], [false, ['running']]);
  await table.finish('running');
  assert.equal(stopped, true);
  await stopping;
  await table.clock.advance(60_000);
  assert.deepEqual(table.started, ['running']);
});

test('stopping waits no longer than it is told', async () => {
  const table = openTable();
  table.add('stuck');
  const work = table.start();
  await table.clock.advance(0);
  let stopped = false;
  void work.stop(5_000).then(() => {
    stopped = true;
  });
  await table.clock.advance(4_999);
  assert.equal(stopped, false);
  await table.clock.advance(1);
  assert.equal(stopped, true);
});

test('stopping ends a sleep and the pause after an error at once', async () => {
  const asleep = openTable();
  const resting = asleep.start();
  const broken = openTable({ lease: () => Promise.reject(new Error('the disk is full')) });
  const pausing = broken.start();
  await asleep.clock.advance(0);
  await broken.clock.advance(0);
  await Promise.all([resting.stop(0), asleep.clock.advance(0)]);
  await Promise.all([pausing.stop(0), broken.clock.advance(0)]);
  assert.deepEqual([asleep.leases, broken.errors.length], [1, 1]);
});

test('periodic work runs at the start and then once a period, and not on top of itself', async () => {
  const table = openTable();
  const times: number[] = [];
  const began = table.clock.now();
  const log = createLog('silent');
  const end = Promise.withResolvers<void>();
  const sweep = periodic(table.clock, {
    name: 'sweep',
    periodMs: 3_600_000,
    async run() {
      times.push(table.clock.now() - began);
      if (times.length === 2) await end.promise;
    },
  });
  startWork({ clock: table.clock, wakeups: table.wakeups, log }, sweep);
  await table.clock.advance(3_599_999);
  assert.deepEqual(times, [0]);
  await table.clock.advance(1);
  assert.deepEqual(times, [0, 3_600_000]);
  await table.clock.advance(3_600_000);
  assert.equal(times.length, 2);
  end.resolve();
  await table.clock.advance(0);
  assert.equal(times.length, 3);
});

test('periodic work goes on when the wall clock is set back by years', async () => {
  const { clock, wakeups } = openTable();
  let wallMs = 0;
  let runs = 0;
  const jumping = { ...clock, now: () => clock.now() + wallMs };
  const sweep = periodic(jumping, { name: 'sweep', periodMs: 3_600_000, run: async () => void runs++ });
  startWork({ clock: jumping, wakeups, log: createLog('silent') }, sweep);
  await clock.advance(0);
  wallMs = -10 * 365 * 24 * 3_600_000;
  await clock.advance(3_600_000);
  assert.equal(runs, 2);
});

test('a wake-up that names only the items of other works wakes none', async () => {
  const table = openTable({ concerns: (subjects) => subjects?.includes('posts') ?? true });
  table.start();
  await table.clock.advance(0);
  const leases = table.leases;
  table.wakeups.notify('queue', ['bounces']);
  table.wakeups.notify('queue', []);
  await table.clock.advance(0);
  assert.equal(table.leases, leases);
  for (const subjects of [['bounces', 'posts'], undefined]) table.wakeups.notify('queue', subjects);
  await table.clock.advance(0);
  assert.ok(table.leases > leases);
});
