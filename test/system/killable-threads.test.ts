import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { JobOptions, KillableThreadsOptions } from '../../src/system/killable-threads/options.ts';
import { MAX_UNANSWERED_PINGS, PING_PERIOD_MS } from '../../src/system/killable-threads/outbox.ts';
import type { ThreadOutcome } from '../../src/system/killable-threads/serve.ts';
import { KillableThreads } from '../../src/system/killable-threads.ts';
import { nextSlice } from '../../src/system/slices.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { Order } from './killable-thread-sample.ts';

const SAMPLE = new URL('./killable-thread-sample.ts', import.meta.url);
const OPTIONS: KillableThreadsOptions = {
  module: SAMPLE,
  threads: 1,
  maxWaiting: 3,
  quickJobMs: 0,
  heapMegabytes: 32,
};

const JOB: JobOptions = { owner: 'a', timeoutMs: 2_000, waitTimeoutMs: 5_000 };

function openThreads(
  context: TestContext,
  {
    waitTimeoutMs = JOB.waitTimeoutMs,
    timeoutMs = JOB.timeoutMs,
    ...change
  }: Partial<KillableThreadsOptions & JobOptions> = {},
) {
  const clock = createFakeClock(0);
  const threads = new KillableThreads<Order, string>(clock, { ...OPTIONS, ...change });
  context.after(() => threads.close());
  /** Where a job ran, or what became of it. */
  const start = (order: Order, owner = 'a') => threads.run(order, { timeoutMs, waitTimeoutMs, owner });
  const run = async (what: Order['what'], owner?: string) => summary(await start({ what }, owner));
  /** Starts a job that never ends by itself. It blocks its thread without using the processor. */
  const hang = async (owner?: string) => {
    const begun = new Int32Array(new SharedArrayBuffer(4));
    const outcome = start({ what: 'hold', begun, release: new Int32Array(new SharedArrayBuffer(4)) }, owner);
    const wait = Atomics.waitAsync(begun, 0, 0);
    await wait.value;
    return { outcome: outcome.then(summary) };
  };
  /** A job that has begun, and ends when it is told to. */
  const hold = async (owner?: string) => {
    const flag = () => new Int32Array(new SharedArrayBuffer(4));
    const [begun, release] = [flag(), flag()];
    const outcome = start({ what: 'hold', begun, release }, owner).then(summary);
    await Atomics.waitAsync(begun, 0, 0).value;
    return () => {
      Atomics.store(release, 0, 1);
      Atomics.notify(release, 0);
      return outcome;
    };
  };
  /** An asynchronous job that has begun, and ends when it is told to. */
  const wait = async (owner?: string) => {
    const flag = () => new Int32Array(new SharedArrayBuffer(4));
    const [begun, release] = [flag(), flag()];
    const outcome = start({ what: 'wait', begun, release }, owner).then(summary);
    await Atomics.waitAsync(begun, 0, 0).value;
    const end = () => {
      Atomics.store(release, 0, 1);
      Atomics.notify(release, 0);
      return outcome;
    };
    return { outcome, end };
  };
  /** Where two jobs run that are under way at the same time. */
  const twoPlaces = async () => {
    const releases = await Promise.all([hold(), hold()]);
    return Promise.all(releases.map((release) => release()));
  };
  return { clock, threads, start, run, hang, hold, wait, twoPlaces };
}

function summary(outcome: ThreadOutcome<string>): string {
  return outcome.kind === 'done' ? outcome.result : `${outcome.reason}: ${outcome.message}`;
}

/** Whether it is settled by now; what is left to do takes no time. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

/** Starts a thread that ends at once, and returns its number. Threads are numbered in the order of their starts. */
const nextThread = () => new Worker('', { eval: true }).threadId;

/** Returns the number of threads that start while `run` runs. */
async function countStarted(run: () => Promise<unknown>): Promise<number> {
  const before = nextThread();
  await run();
  return nextThread() - before - 1;
}

test('a job runs in a thread, and the next one in the same', async (t) => {
  const { run } = openThreads(t);
  const where = await run('where');
  assert.match(where, /^thread \d+$/);
  assert.equal(await run('where'), where);
});

test('the memory of a thread is limited, old and young', async (t) => {
  const { run } = openThreads(t, { heapMegabytes: 40 });
  assert.equal(await run('room'), '40 and 12 MB');
});

test('no more threads are started than there may be', async (t) => {
  const { run, hold } = openThreads(t, { threads: 2, maxWaiting: 4, quickJobMs: 1 });
  const releases = await Promise.all([hold(), hold()]);
  const others = [run('where'), run('where')];
  // A third would be there by the time that one started after it is.
  await openThreads(t).run('where');
  const both = await Promise.all(releases.map((release) => release()));
  const places = [...both, ...(await Promise.all(others))];
  assert.deepEqual([new Set(both).size, new Set(places).size], [2, 2], places.join());
});

test('no more threads are started than jobs are waiting', async (t) => {
  const { twoPlaces } = openThreads(t, { threads: 4, quickJobMs: 1 });
  assert.equal(await countStarted(twoPlaces), 2);
});

const SLOW_TO_GROW = { threads: 2, growAfterMs: 150, quickJobMs: 1 };

test('a thread beside a busy one starts once a job has waited for the time of the pool', async (t) => {
  const { clock, run, hang } = openThreads(t, SLOW_TO_GROW);
  const started = await countStarted(async () => {
    await hang();
    const waiting = run('where', 'b');
    await clock.advance(149);
    assert.equal(await isSettled(waiting), false);
    await clock.advance(1);
    assert.match(await waiting, /^thread/);
  });
  assert.equal(started, 2);
});

test('a job of an owner that is slow by then starts no thread that it would have to leave to others', async (t) => {
  const { clock, run, hang, threads } = openThreads(t, SLOW_TO_GROW);
  const started = await countStarted(async () => {
    await hang();
    const waiting = run('where');
    await clock.advance(1_000);
    assert.equal(await isSettled(waiting), false);
    await threads.close();
  });
  assert.equal(started, 1);
});

test('waits that end in time start no other thread, however many there are', async (t) => {
  const { clock, run, hold } = openThreads(t, SLOW_TO_GROW);
  const started = await countStarted(async () => {
    // Some job waits all the time, and none for the time of the pool.
    let release = await hold('owner 0');
    let next = hold('owner 1');
    for (let round = 2; round < 8; round++) {
      await clock.advance(40);
      const last = hold(`owner ${round}`);
      await clock.advance(40);
      await release();
      release = await next;
      next = last;
    }
    await release();
    await (await next)();
    const waiting = [run('where'), run('where')];
    await Promise.all(waiting);
    await clock.advance(1_000);
  });
  assert.equal(started, 1);
});

test('a job that gives up waiting, and one that the pool closes, start no thread', async (t) => {
  const { clock, run, hang, threads } = openThreads(t, { ...SLOW_TO_GROW, waitTimeoutMs: 100 });
  const started = await countStarted(async () => {
    await hang();
    const late = run('where');
    await clock.advance(100);
    assert.match(await late, /^crowded/);
    await clock.advance(100);
    const closed = run('where');
    await threads.close();
    assert.match(await closed, /^closed/);
    await clock.advance(1_000);
  });
  assert.equal(started, 1);
});

test('jobs that wait for the first thread of a pool start no second one', async (t) => {
  const { clock, run } = openThreads(t, SLOW_TO_GROW);
  const places = [run('where'), run('where'), run('where')];
  await clock.advance(1_000);
  assert.equal(new Set(await Promise.all(places)).size, 1);
});

test('a job that does not end is ended by the clock, others run meanwhile, and a new thread takes its place', async (t) => {
  const { clock, run, hang } = openThreads(t, { threads: 2, quickJobMs: 1 });
  const first = await hang();
  const other = await run('where');
  assert.match(other, /^thread/);
  const second = await hang();
  const waiting = run('where');
  await clock.advance(1_999);
  assert.equal(await isSettled(Promise.race([first.outcome, second.outcome, waiting])), false);
  await clock.advance(1);
  assert.equal(await first.outcome, 'overran: it took longer than 2000 ms');
  assert.equal(await second.outcome, 'overran: it took longer than 2000 ms');
  assert.match(await waiting, /^thread/);
  assert.notEqual(await waiting, other);
});

test('a job that wants more memory than there is ends its thread, not the process', async (t) => {
  const { run } = openThreads(t);
  assert.match(await run('hoard'), /^died: .*memory/);
  assert.match(await run('where'), /^thread/);
});

test('an error that a job throws is its outcome, and its thread continues', async (t) => {
  const { run } = openThreads(t);
  const where = await run('where');
  assert.equal(await run('throw'), 'threw: as told');
  assert.equal(await run('where'), where);
});

test('a thread that ends by itself costs the job it had', async (t) => {
  const { run } = openThreads(t);
  assert.equal(await run('exit'), 'died: the thread has ended');
  assert.match(await run('where'), /^thread/);
});

test('threads start with the first job; one that cannot start costs a job each time', async (t) => {
  const { run } = openThreads(t, { module: new URL('./no-such-module.ts', import.meta.url) });
  for (const outcome of await Promise.all([run('where'), run('where')])) assert.match(outcome, /^died: /);
});

test('a job beyond the maximum of waiting jobs fails at once', async (t) => {
  const { run, hang, threads } = openThreads(t);
  await hang();
  const waiting = [run('where'), run('where'), run('where')];
  assert.equal(await run('where'), 'crowded: 3 jobs are waiting');
  assert.equal(await isSettled(Promise.race(waiting)), false);
  await threads.close();
});

test('a job waits only so long for a thread, and is not run after that', async (t) => {
  const { clock, run, hang, start } = openThreads(t, { waitTimeoutMs: 500 });
  await hang();
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const late = start({ what: 'where', begun });
  await clock.advance(499);
  assert.equal(await isSettled(late), false);
  await clock.advance(1);
  assert.equal(summary(await late), 'crowded: no thread was free for 500 ms');
  await clock.advance(1_500);
  await run('where');
  assert.equal(Atomics.load(begun, 0), 0);
});

test('the time a job waited is not counted as its own', async (t) => {
  const { clock, run, hang, start } = openThreads(t, { waitTimeoutMs: 3_000 });
  await hang();
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const next = start({ what: 'spin', begun }).then(summary);
  const begins = Atomics.waitAsync(begun, 0, 0);
  await clock.advance(2_000);
  await begins.value;
  await clock.advance(1_999);
  assert.equal(await isSettled(next), false);
  await clock.advance(1);
  assert.match(await next, /^overran/);
  assert.match(await run('where'), /^thread/);
});

test('a thread that has nothing to do for long is ended, and started again for the next job', async (t) => {
  const { clock, run } = openThreads(t);
  const where = await run('where');
  await clock.advance(59_999);
  assert.equal(await run('where'), where);
  await clock.advance(59_999);
  assert.equal(await run('where'), where);
  await clock.advance(60_000);
  assert.notEqual(await run('where'), where);
});

test('one thread whose jobs were all quick is kept, however long it idles', async (t) => {
  const { clock, run, hold, twoPlaces } = openThreads(t, { threads: 2, maxWaiting: 4, quickJobMs: 100 });
  const first = await run('where');
  for (let day = 0; day < 2; day++) {
    await clock.advance(24 * 3_600_000);
    assert.equal(await run('where'), first);
  }
  const both = new Set(await twoPlaces());
  assert.equal(both.size, 2);
  // The second is done before the first this time, and is the one that is kept.
  const release = await hold();
  await run('where');
  await release();
  await clock.advance(24 * 3_600_000);
  const after = await twoPlaces();
  const kept = after.filter((place) => both.has(place));
  assert.deepEqual([kept.length, kept.includes(first)], [1, false], `${after} of ${[...both]}`);
});

test('a thread that had a job that was not quick is ended like others, whatever it did since', async (t) => {
  const { clock, start, run } = openThreads(t, { quickJobMs: 100 });
  for (const [durationMs, isKept] of [
    [99, true],
    [100, false],
  ] as const) {
    const begun = new Int32Array(new SharedArrayBuffer(4));
    const slow = start({ what: 'pause', begun });
    await Atomics.waitAsync(begun, 0, 0).value;
    await clock.advance(durationMs);
    const where = summary(await slow);
    assert.equal(await run('where'), where);
    await clock.advance(60_000);
    assert.equal((await run('where')) === where, isKept);
  }
});

test('an answer that crosses with the end of its thread does not bring the thread back', async (t) => {
  const timers: (() => void)[] = [];
  const clock = { ...createFakeClock(0), after: (_: number, run: () => void) => timerOf(run) };
  const timerOf = (run: () => void) => {
    timers.push(run);
    return { cancel: () => {} };
  };
  const threads = new KillableThreads<Order, string>(clock, OPTIONS);
  t.after(() => threads.close());
  await threads.run({ what: 'where' }, JOB);
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const crossed = threads.run({ what: 'where', begun }, JOB);
  const endJob = timers.at(-1);
  // The job leaves at the end of this turn of the event loop.
  await nextSlice();
  Atomics.wait(begun, 0, 0);
  // This thread stands still until the answer lies in its queue, and then ends the job before it looks there.
  Atomics.wait(begun, 0, 1, 50);
  endJob?.();
  const next = threads.run({ what: 'where' }, JOB);
  assert.match(summary(await crossed), /^overran/);
  assert.match(summary(await next), /^thread/);
});

test('waiting jobs are run in turn by owner, and each owner has its own maximum', async (t) => {
  const { hold, start, run } = openThreads(t);
  const release = await hold('a');
  const order: string[] = [];
  const queue = async (owner: string) => {
    await start({ what: 'where' }, owner);
    order.push(owner);
  };
  const waiting = ['a', 'a', 'a', 'b', 'b', 'c'].map(queue);
  assert.equal(await run('where', 'a'), 'crowded: 3 jobs are waiting');
  await release();
  await Promise.all(waiting);
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'a']);
});

/** Ten minutes. */
const SLOW_OWNER_MS = 600_000;

test('owners whose jobs were slow leave a thread to the others, for ten minutes', async (t) => {
  const { clock, hold, run } = openThreads(t, { threads: 2, quickJobMs: 100 });
  for (const owner of ['slow', 'slower']) {
    const release = await hold(owner);
    await clock.advance(100);
    await release();
  }
  const release = await hold('slow');
  const others = [run('where', 'slow'), run('where', 'slower')];
  assert.match(await run('where', 'quick'), /^thread/);
  assert.equal(await isSettled(Promise.race(others)), false);
  assert.match(await release(), /^thread/);
  for (const other of others) assert.match(await other, /^thread/);
  await clock.advance(SLOW_OWNER_MS);
  const [first, second] = [await hold('slow'), await hold('slower')];
  assert.notEqual(await first(), await second(), 'both are quick again and run at the same time');
});

test('a job that has run for longer than a quick one holds its owner to one thread before it ends', async (t) => {
  const { clock, hang, run } = openThreads(t, { threads: 2, quickJobMs: 100 });
  await hang('slow');
  await clock.advance(100);
  const next = run('where', 'slow');
  assert.match(await run('where', 'quick'), /^thread/);
  assert.equal(await isSettled(next), false);
  await clock.advance(1_900);
  assert.match(await next, /^thread/);
});

test('an owner whose job has ended its thread counts as slow, however soon that was', async (t) => {
  const { hang, run, threads } = openThreads(t, { threads: 2, quickJobMs: 100 });
  assert.match(await run('exit', 'slow'), /^died/);
  await hang('slow');
  const next = run('where', 'slow');
  assert.match(await run('where', 'quick'), /^thread/);
  assert.equal(await isSettled(next), false);
  await threads.close();
});

test('a thread finds the data of its pool', async (t) => {
  const { run } = openThreads(t, { data: 'of the pool' });
  assert.equal(await run('data'), 'of the pool');
});

test('a promise is waited for, and one that rejects fails its job alone', async (t) => {
  const { wait, run } = openThreads(t);
  const waiting = await wait();
  const next = run('where');
  assert.equal(await isSettled(Promise.race([waiting.outcome, next])), false);
  const where = await waiting.end();
  assert.equal(await next, where);
  assert.equal(await run('reject'), 'threw: as told');
  assert.equal(await run('where'), where);
});

const SEVERAL = { jobsPerThread: 3, quickJobMs: 60_000, maxWaiting: 10 };

test('a thread runs several asynchronous jobs at a time, and is filled before another one starts', async (t) => {
  const { wait } = openThreads(t, { ...SEVERAL, threads: 2 });
  const jobs = [await wait(), await wait(), await wait(), await wait()];
  const places = await Promise.all(jobs.toReversed().map(({ end }) => end()));
  const [fourth, ...others] = places;
  assert.equal(new Set(others).size, 1);
  assert.notEqual(fourth, others[0]);
});

test('a job that waits for too long fails alone, and its thread ends once the other jobs are done', async (t) => {
  const { clock, wait, run } = openThreads(t, { ...SEVERAL, threads: 2 });
  const late = await wait();
  await clock.advance(PING_PERIOD_MS);
  const other = await wait();
  await clock.advance(JOB.timeoutMs - PING_PERIOD_MS);
  assert.equal(await late.outcome, 'overran: it took longer than 2000 ms');
  const next = await run('where');
  const place = await other.end();
  assert.match(place, /^thread/);
  assert.notEqual(next, place);
});

test('a job that blocks its thread is found by running each of its jobs alone, and the others are done', async (t) => {
  const { clock, wait, start, run } = openThreads(t, { ...SEVERAL, timeoutMs: 60_000 });
  const innocent = await wait('a');
  // A thread that answers is not ended, however long its jobs wait.
  for (let count = 0; count <= MAX_UNANSWERED_PINGS; count++) {
    await clock.advance(PING_PERIOD_MS);
    await run('where');
  }
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const blocking = start({ what: 'spin', begun }, 'b').then(summary);
  await Atomics.waitAsync(begun, 0, 0).value;
  Atomics.store(begun, 0, 0);
  await clock.advance((MAX_UNANSWERED_PINGS + 1) * PING_PERIOD_MS);
  assert.match(await innocent.end(), /^thread/);
  await Atomics.waitAsync(begun, 0, 0).value;
  await clock.advance((MAX_UNANSWERED_PINGS + 1) * PING_PERIOD_MS);
  assert.equal(await blocking, 'overran: it has blocked its thread');
  assert.match(await run('where'), /^thread/);
});

test('the jobs of a thread that dies are run once more, and the cause of its death has died', async (t) => {
  const { wait, run } = openThreads(t, SEVERAL);
  const innocents = [await wait(), await wait()];
  const cause = run('exit');
  for (const { end } of innocents) assert.match(await end(), /^thread/);
  assert.equal(await cause, 'died: the thread has ended');
});

test('closing ends what runs and what waits, and nothing is begun after it', async (t) => {
  const { run, hang, threads } = openThreads(t);
  const running = await hang();
  const waiting = run('where');
  await threads.close();
  assert.match(await running.outcome, /^closed: /);
  assert.match(await waiting, /^closed: /);
  assert.match(await run('where'), /^closed: /);
});

test('a process waits for its jobs, but not for its idle threads', async () => {
  const program = fileURLToPath(new URL('./killable-threads-process.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    timeout: 60_000,
  });
  assert.equal(stdout, 'done\ndone\n');
});
