import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../src/system/errors.ts';
import { createLog, setLogLevel } from '../../src/system/log.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import type { ThreadOptions } from '../../src/system/thread/part.ts';
import { createThread } from '../../src/system/thread.ts';
import { createWakeups } from '../../src/system/wakeups.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { pause } from '../support/pause.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { SampleCalls, SampleData } from './thread-sample.ts';

const MODULE = new URL('./thread-sample.ts', import.meta.url);

/** Returns the system and the options of a thread that is not started, and how a test sees what it does. */
function prepareThread(change: Partial<ThreadOptions> = {}) {
  const clock = createFakeClock(0);
  const lines: string[] = [];
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const start: SampleData = { isBroken: false, flag };
  const system = {
    clock,
    log: createLog('info', { write: (line: string) => void lines.push(line) }),
    metrics: createMetrics(clock),
    wakeups: createWakeups(),
  };
  let starts = 0;
  const options: ThreadOptions = {
    name: 'sample',
    module: MODULE,
    heapMegabytes: 24,
    prepare: () => {
      starts += 1;
      return { data: start, transfer: [] };
    },
    ...change,
  };
  return {
    ...{ system, options, clock, lines, flag, start, wakeups: system.wakeups },
    starts: () => starts,
    /** Waits for what another thread does, at a clock that stands still. */
    until: (what: string, holds: () => boolean | Promise<boolean>) => waitUntil(holds, what),
    /** Returns the lines of the metrics that name this one. */
    async show(name: string) {
      const { text } = await system.metrics.show();
      return text.split('\n').filter((line) => line.startsWith(`postrider_${name}`));
    },
    /** Returns the fields of the log lines with this message. */
    logged: (message: string) =>
      lines
        .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
        .filter(({ msg }) => msg === message),
  };
}

async function open(context: TestContext, change?: Partial<ThreadOptions>) {
  const prepared = prepareThread(change);
  const thread = createThread<SampleCalls>(prepared.system, prepared.options);
  context.after(() => thread.stop(0));
  await thread.start();
  return { ...prepared, thread, calls: thread.calls };
}

function openLazy(context: TestContext) {
  const prepared = prepareThread();
  const thread = createThread<SampleCalls>(prepared.system, prepared.options);
  context.after(() => thread.stop(0));
  return { ...prepared, thread, calls: thread.calls };
}

/** What was under way may have been done, which `unavailable` would deny. */
const isInterrupted = (error: unknown) => error instanceof AppError && error.code === 'interrupted';
const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

test('a thread follows the level of the log, also one that starts after the change', async (t) => {
  const { calls, system, logged } = await open(t);
  await calls.logDetail('before');
  setLogLevel(system.log, 'debug');
  await calls.logDetail('after');
  const late = createThread<SampleCalls>(system, prepareThread().options);
  t.after(() => late.stop(0));
  await late.calls.logDetail('in another thread');
  assert.deepEqual(
    ['before', 'after', 'in another thread'].map((message) => logged(message).length),
    [0, 1, 1],
  );
});

test('a vital thread is not started again: its death is a failure', async (t) => {
  const { thread, calls, starts, clock, until, logged } = await open(t, { isVital: true });
  void calls.throwLater('a bug');
  const error = await thread.failed;
  assert.match(error.message, /the thread "sample" has died/);
  assert.match(String(error.cause), /a bug/);
  await clock.advance(120_000);
  await until('the thread is down', () => !thread.isRunning);
  assert.equal(starts(), 1);
  assert.deepEqual(logged('a thread has died and will be started again'), []);
});

test('calls, log lines, metrics and wake-ups cross between the threads', async (t) => {
  const { calls, until, logged, show, wakeups } = await open(t);

  assert.equal(await calls.echo('hello'), 'hello from sample');
  await assert.rejects(calls.refuse('slower'), (error: unknown) => {
    assert.ok(error instanceof AppError);
    assert.deepEqual(
      [error.code, error.message, error.options.retryAfterSeconds],
      ['rate_limited', 'slower', 7],
    );
    return true;
  });
  await assert.rejects(calls.returnFunction(null), /could not be cloned/);
  // A function is refused by the sender, and fails its caller alone.
  await assert.rejects(calls.echo((() => 1) as never), /could not be cloned/);

  await calls.logError('something happened');
  await until('the line has arrived', () => logged('something happened').length === 1);
  const [{ level, err }] = logged('something happened');
  assert.deepEqual([level, err.type, err.message], ['warn', 'TypeError', 'a bug']);
  assert.match(err.stack, /thread-sample\.ts:\d+/);

  await calls.count(null);
  await calls.count(null);
  await until(
    'the counter is reported',
    async () => (await show('sample_total'))[0] === 'postrider_sample_total 2',
  );
  assert.match(
    (await show('thread_heap_used_bytes'))[0] ?? '',
    /^postrider_thread_heap_used_bytes\{thread="sample"\} \d/,
  );
  assert.equal((await show('process_resident_memory_bytes')).length, 1);

  const heard: unknown[] = [];
  for (const name of ['queue', 'audiences', 'jobs'] as const)
    wakeups.listen(name, (subjects) => heard.push([name, subjects]));
  await calls.wake(['a', 'b', 'a']);
  await until('the wake-ups have arrived', () => heard.length === 2);
  assert.deepEqual(heard, [
    ['queue', ['a', 'b']],
    ['audiences', undefined],
  ]);
  wakeups.notify('tenants', ['x']);
  wakeups.notify('tenants');
  await until('the thread has answered', () => heard.length === 3);
  assert.deepEqual(heard[2], ['jobs', undefined]);

  // A wake-up of the thread does not come back to it: its listener would answer once more.
  await calls.wakeTenants(null);
  await until('the thread has woken itself', () => heard.length === 4);
  for (let turn = 0; turn < 3; turn += 1) await calls.echo('another turn');
  assert.equal(heard.length, 4);
  assert.equal(await calls.heapMegabytes(null), 24);
});

test('a thread that dies is started again, later each time, and its counters go on', async (t) => {
  const { thread, calls, clock, start, until, logged, show } = await open(t);
  const deaths = () => logged('a thread has died and will be started again');
  await calls.count(null);
  await until(
    'the counter is reported',
    async () => (await show('sample_total'))[0] === 'postrider_sample_total 1',
  );

  const underWay = calls.exhaustHeap(null);
  await assert.rejects(underWay, isInterrupted);
  await until('the death is logged', () => deaths().length === 1);
  assert.equal(deaths()[0].err.code, 'ERR_WORKER_OUT_OF_MEMORY');
  assert.deepEqual([thread.isRunning, deaths()[0].thread, deaths()[0].restartInMs], [false, 'sample', 1_000]);
  await assert.rejects(calls.echo('to nobody'), isUnavailable);

  start.isBroken = true;
  await clock.advance(1_000);
  await until('the next death is logged', () => deaths().length === 2);
  assert.deepEqual([deaths()[1].err.message, deaths()[1].restartInMs], ['the sample does not start', 2_000]);

  start.isBroken = false;
  await clock.advance(2_000);
  await until('it runs', () => thread.isRunning);
  assert.equal(await calls.echo('again'), 'again from sample');
  await calls.count(null);
  await until(
    'the counter goes on',
    async () => (await show('sample_total'))[0] === 'postrider_sample_total 2',
  );
  assert.deepEqual(await show('thread_restarts_total'), [
    'postrider_thread_restarts_total{thread="sample"} 2',
  ]);

  await calls.throwLater('a bug in the part');
  await until('the bug is logged', () => deaths().length === 3);
  assert.deepEqual([deaths()[2].err.message, deaths()[2].restartInMs], ['a bug in the part', 4_000]);
});

test('a thread that no longer answers is ended and started again', async (t) => {
  const { thread, calls, clock, flag, until, logged } = await open(t);
  const underWay = assert.rejects(calls.spin(null), isInterrupted);
  await Atomics.waitAsync(flag, 0, 0).value;
  // Reports that the thread sent before it stood still are read first.
  await pause();
  await clock.advance(30_000);
  assert.equal(thread.isRunning, true);
  await clock.advance(5_000);
  await underWay;
  const deaths = () => logged('a thread has died and will be started again');
  await until('its end is logged', () => deaths().length === 1);
  assert.equal(deaths()[0].err.message, 'the thread has reported nothing for 35000 ms');
  Atomics.store(flag, 0, 0);
  await clock.advance(1_000);
  await until('it runs', () => thread.isRunning);
  assert.equal(await calls.echo('again'), 'again from sample');
});

test('a thread that does not finish loading is ended after the same time, and started again', async (t) => {
  const { thread, calls, clock, start, until, logged } = await open(t);
  const deaths = () => logged('a thread has died and will be started again');
  await calls.throwLater('a bug in the part');
  await until('the death is logged', () => deaths().length === 1);
  start.loadsForEver = true;
  await clock.advance(1_000);
  await clock.advance(34_999);
  assert.deepEqual([thread.isRunning, deaths().length], [false, 1]);
  await clock.advance(1);
  await until('its end is logged', () => deaths().length === 2);
  assert.equal(deaths()[1].err.message, 'the thread has reported nothing for 35000 ms');
  start.loadsForEver = false;
  await clock.advance(deaths()[1].restartInMs);
  await until('it runs', () => thread.isRunning);
  assert.equal(await calls.echo('again'), 'again from sample');
});

test('a thread that goes on although it was terminated ends the daemon, and its calls are refused', async (t) => {
  const { thread, calls, clock, flag } = await open(t);
  const terminate = t.mock.method(Worker.prototype, 'terminate', () => new Promise<number>(() => {}));
  const underWay = assert.rejects(calls.spin(null), isInterrupted);
  await Atomics.waitAsync(flag, 0, 0).value;
  for (let checks = 0; checks < 7; checks += 1) await clock.advance(5_000);
  assert.equal(terminate.mock.callCount(), 1);
  await clock.advance(10_000);
  const { message, cause } = await thread.failed;
  assert.equal(message, 'a thread could not be ended');
  assert.equal((cause as Error).message, 'the thread has reported nothing for 35000 ms');
  await underWay;
  terminate.mock.restore();
  const stopped = thread.stop(0);
  await clock.advance(2_000);
  await stopped;
});

test('a thread that stops finishes its calls, and then its part', async (t) => {
  const { thread, calls, flag, lines } = await open(t);
  const underWay = calls.hold(null);
  await Atomics.waitAsync(flag, 0, 0).value;
  const stopped = thread.stop(60_000);
  const late = assert.rejects(calls.echo('late'), isUnavailable);
  await late;
  Atomics.store(flag, 0, 2);
  Atomics.notify(flag, 0);
  assert.equal(await underWay, 'held');
  await stopped;
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['stop', 'close'],
  );
  assert.equal(thread.isRunning, false);
});

test('a thread that does not stop is terminated after the grace period', async (t) => {
  const { thread, calls, clock, flag, logged } = await open(t);
  const underWay = assert.rejects(calls.spin(null), isInterrupted);
  await Atomics.waitAsync(flag, 0, 0).value;
  const stopped = thread.stop(1_000);
  await clock.advance(3_000);
  await Promise.all([stopped, underWay]);
  assert.equal(logged('a thread did not stop in time').length, 1);
});

test('a thread that cannot start rejects with its reason', async (t) => {
  const data: SampleData = { isBroken: true, flag: new Int32Array(new SharedArrayBuffer(4)) };
  await assert.rejects(open(t, { prepare: () => ({ data, transfer: [] }) }), /the sample does not start/);
});

test('a lazy thread starts once, at its first call, and counts as running before', async (t) => {
  const { thread, calls, starts } = openLazy(t);
  assert.deepEqual([thread.isRunning, starts()], [true, 0]);
  const answers = await Promise.all([calls.echo('one'), calls.echo('two'), thread.start()]);
  assert.deepEqual(answers.slice(0, 2), ['one from sample', 'two from sample']);
  assert.deepEqual([thread.isRunning, starts()], [true, 1]);
});

test('a lazy thread that cannot start, or dies, refuses its calls and is started again', async (t) => {
  const { thread, calls, clock, start, until, logged } = openLazy(t);
  const deaths = () => logged('a thread has died and will be started again');
  start.isBroken = true;
  await assert.rejects(calls.echo('to nobody'), isUnavailable);
  assert.deepEqual([thread.isRunning, deaths().length], [false, 1]);
  await assert.rejects(thread.start(), /the sample does not start/);
  start.isBroken = false;
  await clock.advance(1_000);
  await until('it runs', () => thread.isRunning);
  assert.equal(await calls.echo('again'), 'again from sample');
  await calls.throwLater('a bug in the part');
  await until('its death is logged', () => deaths().length === 2);
  assert.equal(thread.isRunning, false);
});

test('a lazy thread that was stopped does not start', async (t) => {
  const { thread, calls, starts } = openLazy(t);
  await thread.stop(0);
  await assert.rejects(calls.echo('late'), isUnavailable);
  assert.equal(starts(), 0);
});
