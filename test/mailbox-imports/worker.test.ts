/** Imports take runs, which a reader of the test ends as the test says. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { after, test } from 'node:test';
import type { MailboxImportRow } from '../../src/db/mailbox-tables.ts';
import { NO_COUNTS } from '../../src/mailbox-imports/counts.ts';
import { createImport } from '../../src/mailbox-imports/create.ts';
import type { ImportCalls, RunEnd, RunRequest } from '../../src/mailbox-imports/run.ts';
import { spoolFolder } from '../../src/mailbox-imports/spool.ts';
import { advanceImport, deleteImport, findImport, MAILBOX_IMPORTS } from '../../src/mailbox-imports/store.ts';
import { createImportKind, createImportSweep } from '../../src/mailbox-imports/worker.ts';
import { updateMailbox } from '../../src/mailboxes/store.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { AppError } from '../../src/system/errors.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { findTask, listWaitingQueues } from '../../src/tasks/store.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { leaseTasksOf, releaseTasksOf } from '../support/tasks.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

const clock = createFakeClock(Date.UTC(2026, 0, 1));
const world = await openTestApp({ system: { clock, random: () => 0.5 } });
after(() => world.close());
const { app } = world;

/** A reader whose runs end when the test says. */
function createReader() {
  const runs: { request: RunRequest; end(end: RunEnd | Error): void }[] = [];
  let begin = () => {};
  const reader: ImportCalls = {
    runImport: (request) =>
      new Promise((resolve, reject) => {
        runs.push({ request, end: (end) => (end instanceof Error ? reject(end) : resolve(end)) });
        begin();
      }),
  };
  /** Resolves when the next run begins. */
  const nextSlice = () => new Promise<void>((resolve) => (begin = resolve));
  return { runs, reader, nextSlice };
}

let parties = 0;

/** Returns a tenant of its own with a mailbox, and what starts imports. */
async function newParty() {
  const { tenantId } = await world.addTenant(`party ${++parties}`);
  const mailbox = await addMailbox({ app, tenantId }, { address: `a${parties}@party${parties}.example` });
  /** Starts an import, which waits longer than each that is started later. */
  async function start(user: string): Promise<MailboxImportRow> {
    await clock.advance(1);
    return createImport(app, tenantId, {
      mailboxId: mailbox.id,
      wanted: { host: 'imap.example.com', user, password: 'secret' },
    });
  }
  const changeStatus = (status: 'active' | 'suspended') =>
    app.db.commit(updateMailbox, { tenantId, id: mailbox.id, change: { status }, now: clock.now() });
  return { tenantId, start, changeStatus };
}

const find = async ({ id }: MailboxImportRow) => (await findImport(app.db.read, id)) ?? assert.fail();

/** Returns the task of an import; undefined once it has ended. */
const taskOf = ({ id: reference }: MailboxImportRow) =>
  findTask(app.db.read, { kind: MAILBOX_IMPORTS, reference });

/** Leases like the engine, at most one import of each tenant, and runs each in the background. */
function createRunner(random = app.random) {
  const { runs, reader, nextSlice } = createReader();
  const kind = createImportKind({ ...app, random }, reader);
  const running = new Map<string, { tenantId: string | null; run: Promise<unknown> }>();

  async function queuesToServe(): Promise<string[]> {
    const queues = await listWaitingQueues(app.db.read, { kind: kind.name, after: '', limit: 100 });
    const busy = new Set([...running.values()].map(({ tenantId }) => tenantId));
    const idle = queues.filter(({ tenantId, dueAt }) => !busy.has(tenantId) && dueAt <= clock.now());
    const open = await Promise.all(idle.map(({ queueKey }) => kind.rules?.(queueKey)));
    return idle
      .filter((_, index) => (open[index]?.pausedUntil ?? 0) <= clock.now())
      .toSorted((one, other) => one.dueAt - other.dueAt)
      .map(({ queueKey }) => queueKey);
  }

  return {
    kind,
    runs,
    async lease(limit = kind.concurrency - running.size): Promise<string[]> {
      const users: string[] = [];
      for (const queue of (await queuesToServe()).slice(0, limit)) {
        for (const task of await leaseTasksOf(app, { kind: kind.name, queue })) {
          const { reference, tenantId } = task;
          users.push((await findImport(app.db.read, reference as MailboxImportRow['id']))?.user ?? '');
          const begun = nextSlice();
          const run = kind.run(task);
          running.set(reference, { tenantId, run });
          await Promise.race([begun, run]);
        }
      }
      return users;
    },
    /** Waits for all runs, which end in the same way when the test says how. */
    async endAll(end?: RunEnd | Error): Promise<void> {
      for (const run of end ? runs.splice(0) : []) run.end(end ?? assert.fail());
      await Promise.all([...running.values()].map(({ run }) => run));
      running.clear();
    },
    /** Ends the oldest run. */
    async end(end: RunEnd | Error): Promise<void> {
      const run = runs.shift() ?? assert.fail('no run goes on');
      run.end(end);
      await running.get(run.request.id)?.run;
      running.delete(run.request.id);
    },
  };
}

test('a tenant has one run at a time, others come in between, and a paused import goes on after them', async () => {
  const { runs, reader, nextSlice } = createReader();
  const [one, other] = [await newParty(), await newParty()];
  await one.start('one-1');
  await one.start('one-2');
  await other.start('other');
  const begun = nextSlice();
  const engine = startTasks(app, [createImportKind(app, reader)]);
  await begun;
  const usersOf = () => runs.map(({ request }) => request.settings.user);
  await waitUntil(() => runs.length === 2);
  assert.deepEqual(usersOf().toSorted(), ['one-1', 'other'], 'the second import of the tenant waits');
  const end = async (user: string, kind: 'paused' | 'completed') => {
    const index = usersOf().indexOf(user);
    runs.splice(index, 1)[0]?.end({ kind });
  };
  await clock.advance(1);
  await end('one-1', 'paused');
  await waitUntil(() => usersOf().includes('one-2'));
  assert.deepEqual(usersOf(), ['other', 'one-2'], 'the import that has waited longest is next');
  assert.equal(runs[0]?.request.settings.password, 'secret');
  await end('one-2', 'completed');
  await waitUntil(() => usersOf().includes('one-1'));
  for (const user of ['one-1', 'other']) await end(user, 'completed');
  await waitUntil(
    async () =>
      (await listWaitingQueues(app.db.read, { kind: MAILBOX_IMPORTS, after: '', limit: 1 })).length === 0,
  );
  await engine.stop(1_000);
});

test('an import that has failed has no password and is not due', async () => {
  const { lease, end } = createRunner();
  const { start } = await newParty();
  const row = await start('a');
  await lease();
  await end({ kind: 'failed', reason: 'mailbox_full', error: 'The mailbox is full' });
  const ended = await find(row);
  const { status, reason, error, password, finishedAt } = ended;
  assert.deepEqual(
    { status, reason, error, password, finishedAt },
    {
      ...{ status: 'failed', reason: 'mailbox_full', error: 'The mailbox is full' },
      ...{ password: null, finishedAt: clock.now() },
    },
  );
  assert.equal(await taskOf(row), undefined);
});

test('an import that is interrupted is tried again, each time later, and fails when that never helps', async () => {
  const { lease, end } = createRunner();
  const { start } = await newParty();
  const row = await start('a');
  const interrupt = async (hasImported: boolean): Promise<number> => {
    assert.deepEqual(await lease(), ['a']);
    await end({ kind: 'interrupted', error: 'no answer', hasImported });
    const { status, error } = await find(row);
    const dueAt = (await taskOf(row))?.dueAt ?? null;
    if (dueAt === null) return 0;
    assert.deepEqual([status, error], ['running', 'no answer']);
    const delayMs = dueAt - clock.now();
    await clock.advance(delayMs - 1);
    assert.deepEqual(await lease(), []);
    await clock.advance(1);
    return delayMs / 1_000;
  };
  assert.deepEqual([await interrupt(false), await interrupt(false), await interrupt(true)], [20, 40, 10]);
  const delays: number[] = [];
  for (let delay = await interrupt(false); delay > 0; delay = await interrupt(false)) delays.push(delay);
  assert.deepEqual(delays, [20, 40, 80, 160, 320, 640, 1_280, 1_800, 1_800]);
  const { status, reason, error } = await find(row);
  assert.deepEqual([status, reason, error], ['failed', 'source_unavailable', 'no answer']);
});

test('the death of the thread interrupts an import, and a bug ends it', async () => {
  const { lease, end } = createRunner();
  const { start } = await newParty();
  const row = await start('a');
  await lease();
  await end(new AppError('unavailable', 'The thread starts again'));
  assert.equal((await find(row)).error, 'The thread starts again');
  await clock.advance(20_000);
  await lease();
  await end(new Error('a bug'));
  assert.deepEqual([(await find(row)).status, (await find(row)).reason], ['failed', 'internal']);
});

test('the death of the thread under several imports is the fault of none, and each goes on at a time of its own', async () => {
  const { lease, end, endAll } = createRunner(() => 0.123_456_789);
  const rows = [await (await newParty()).start('a'), await (await newParty()).start('b')];
  assert.deepEqual(await lease(), ['a', 'b']);
  await endAll(new AppError('unavailable', 'The thread starts again'));
  for (const row of rows) {
    const { attempts, dueAt } = (await taskOf(row)) ?? assert.fail();
    const { password } = await find(row);
    assert.deepEqual([attempts, dueAt], [0, clock.now() + 111_111]);
    assert.notEqual(password, null);
  }
  await clock.advance(111_111);
  assert.deepEqual(await lease(1), ['a']);
  await end(new AppError('unavailable', 'The thread starts again'));
  assert.equal((await taskOf(rows[0] ?? assert.fail()))?.attempts, 1, 'alone, it was the one');
  await lease();
  await end({ kind: 'completed' });
  await clock.advance(20_000);
  await lease();
  await end({ kind: 'completed' });
});

test('an import under which the daemon ends again and again fails', async () => {
  const { start } = await newParty();
  const row = await start('a');
  const { kind } = createRunner();
  for (let crash = 1; crash <= 10; crash++) {
    const [task] = await leaseTasksOf(app, { kind: kind.name });
    assert.equal(task?.attempts, crash);
    assert.equal(kind.backOff(crash) === undefined, crash === 10);
    await releaseTasksOf(app, kind.name);
  }
  const [task] = await leaseTasksOf(app, { kind: kind.name });
  assert.equal(await kind.giveUp?.(task ?? assert.fail(), 'The last attempt was interrupted'), 'done');
  const { status, reason, password } = await find(row);
  assert.deepEqual([status, reason, password], ['failed', 'internal', null]);
});

test('what a crash has left of large messages is removed at the next start', async () => {
  const left = spoolFolder(app.config.dataDir, 'mim_gone');
  mkdirSync(left, { recursive: true });
  await createRunner().kind.prepare?.();
  assert.ok(!existsSync(left));
});

test('after a refused login, the next import of the tenant waits, and those of others do not', async () => {
  const { lease, end } = createRunner();
  const [one, other] = [await newParty(), await newParty()];
  await one.start('one-1');
  await lease();
  await one.start('one-2');
  await end({ kind: 'failed', reason: 'login_refused', error: 'No' });
  await other.start('other');
  assert.deepEqual(await lease(), ['other']);
  await clock.advance(29_998);
  assert.deepEqual(await lease(), []);
  await clock.advance(1);
  assert.deepEqual(await lease(), ['one-2']);
  await end({ kind: 'completed' });
  await end({ kind: 'completed' });
});

test('a pause of a tenant is as long when the clock is set back meanwhile', async () => {
  let setBackMs = 0;
  const moved = { ...clock, now: () => clock.now() - setBackMs };
  const { reader, runs } = createReader();
  const kind = createImportKind({ ...app, clock: moved }, reader);
  const { tenantId, start } = await newParty();
  await start('a');
  const [task] = await leaseTasksOf(app, { kind: kind.name, queue: tenantId });
  const run = kind.run(task ?? assert.fail());
  await waitUntil(() => runs.length === 1);
  runs[0]?.end({ kind: 'failed', reason: 'login_refused', error: 'No' });
  await run;
  setBackMs = 3_600_000;
  const pausedMs = async () => ((await kind.rules?.(tenantId))?.pausedUntil ?? moved.now()) - moved.now();
  assert.equal(await pausedMs(), 30_000);
  await clock.advance(30_000);
  assert.equal(await pausedMs(), 0);
});

test('after an attempt that has imported nothing, the next import of the tenant waits', async () => {
  const { lease, end } = createRunner();
  const { start } = await newParty();
  const row = await start('one-1');
  await lease();
  await start('one-2');
  await end({ kind: 'interrupted', error: 'no answer', hasImported: false });
  await clock.advance(9_999);
  assert.deepEqual(await lease(), []);
  await clock.advance(1);
  assert.deepEqual(await lease(), ['one-2']);
  await end({ kind: 'completed' });
  await app.db.commit(deleteImport, { ...row, tenantId: row.tenantId });
});

test('a run knows which messages earlier runs could not import', async () => {
  const { lease, end, runs } = createRunner();
  const { start } = await newParty();
  const { id } = await start('a');
  await lease();
  const errors = [{ folder: 'INBOX', uid: 7, message: 'The server is too slow' }];
  await app.db.commit(advanceImport, { id, progress: JSON.stringify(NO_COUNTS), errors });
  await end({ kind: 'paused' });
  await lease();
  assert.deepEqual(runs[0]?.request.failed, [{ folder: 'INBOX', uid: 7 }]);
  await end({ kind: 'completed' });
});

test('an import of a suspended mailbox waits without a run, and goes on when the mailbox is active again', async () => {
  const { lease, end, endAll, runs } = createRunner();
  const { start, changeStatus } = await newParty();
  const row = await start('a');
  await lease();
  await changeStatus('suspended');
  await end({ kind: 'interrupted', error: 'the thread says so', hasImported: false });
  for (let look = 0; look < 20; look++) {
    const { status, error } = await find(row);
    const { attempts, dueAt } = (await taskOf(row)) ?? assert.fail();
    assert.deepEqual([status, error, attempts], ['running', 'The mailbox is suspended', 0]);
    await clock.advance((dueAt ?? assert.fail()) - clock.now());
    assert.deepEqual(await lease(), ['a']);
    assert.deepEqual(runs, []);
    await endAll();
  }
  await changeStatus('active');
  await clock.advance(300_000);
  await lease();
  await end({ kind: 'completed' });
  assert.equal((await find(row)).status, 'completed');
});

test('an import of a mailbox that stays suspended fails after a week', async () => {
  const { lease, endAll } = createRunner();
  const { start, changeStatus } = await newParty();
  const row = await start('a');
  await changeStatus('suspended');
  await lease();
  await endAll();
  await clock.advance(7 * DAY_MS);
  await lease();
  await endAll();
  const { status, reason } = await find(row);
  assert.deepEqual([status, reason], ['failed', 'mailbox_suspended']);
});

test('an import that does not end fails after a week', async () => {
  const { lease, end } = createRunner();
  const { start } = await newParty();
  const row = await start('a');
  await lease();
  await clock.advance(7 * DAY_MS - 1);
  await end({ kind: 'paused' });
  await lease();
  await clock.advance(1);
  await end({ kind: 'paused' });
  const { status, reason, error } = await find(row);
  assert.deepEqual([status, reason], ['failed', 'source_unavailable']);
  assert.match(error ?? '', /^The import has not ended within 7 days/);
});

test('an import is removed 30 days after its end', async () => {
  const { lease, end } = createRunner();
  const { start } = await newParty();
  const row = await start('a');
  await lease();
  await end({ kind: 'completed' });
  const sweep = createImportSweep(app);
  await clock.advance(30 * DAY_MS);
  await sweep.run('run');
  assert.ok(await findImport(app.db.read, row.id));
  await clock.advance(1);
  await sweep.run('run');
  assert.equal(await findImport(app.db.read, row.id), undefined);
});
