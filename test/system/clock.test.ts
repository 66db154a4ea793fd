import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime, realClock, sleep, TimeoutError, withTimeout } from '../../src/system/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const START = Date.UTC(2030, 0, 1);

/** What became of it so far, without waiting. */
function watch<T>(work: Promise<T>): { state: string } {
  const watched = { state: 'pending' };
  work.then(
    (value) => {
      watched.state = `resolved ${value}`;
    },
    (error) => {
      watched.state = `rejected ${error.message}`;
    },
  );
  return watched;
}

test('sleep ends after its time', async () => {
  const clock = createFakeClock(START);
  const watched = watch(sleep(clock, 1_000));
  await clock.advance(999);
  assert.equal(watched.state, 'pending');
  await clock.advance(1);
  assert.equal(watched.state, 'resolved undefined');
});

test('sleep ends at once when it is aborted, before or during', async () => {
  const clock = createFakeClock(START);
  await sleep(clock, 1_000, AbortSignal.abort());
  const controller = new AbortController();
  const watched = watch(sleep(clock, 1_000, controller.signal));
  await clock.advance(10);
  assert.equal(watched.state, 'pending');
  controller.abort();
  await clock.advance(0);
  assert.equal(watched.state, 'resolved undefined');
});

test('a time limit rejects with what took too long', async () => {
  const clock = createFakeClock(START);
  const work = withTimeout(clock, 5_000, 'the handshake', new Promise(() => {}));
  const watched = watch(work);
  await clock.advance(4_999);
  assert.equal(watched.state, 'pending');
  await clock.advance(1);
  assert.equal(watched.state, 'rejected the handshake took longer than 5000 ms');
  await assert.rejects(work, TimeoutError);
});

test('work that ends in time keeps its result or its error, and its timer is gone', async () => {
  let timers = 0;
  const clock = createFakeClock(START);
  const counting = {
    ...clock,
    after(delayMs: number, run: () => void) {
      timers++;
      const timer = clock.after(delayMs, run);
      return {
        cancel() {
          timers--;
          timer.cancel();
        },
      };
    },
  };
  assert.equal(await withTimeout(counting, 10, 'x', Promise.resolve(7)), 7);
  await assert.rejects(withTimeout(counting, 10, 'x', Promise.reject(new Error('its own'))), /its own/);
  await clock.advance(0);
  assert.equal(timers, 0);
});

test('a delay too long for a timer waits as long as one can, instead of firing at once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let fired = 0;
  realClock.after(2 ** 31, () => fired++);
  realClock.after(-5, () => fired++);
  t.mock.timers.tick(1);
  assert.equal(fired, 1);
  t.mock.timers.tick(2 ** 31 - 3);
  assert.equal(fired, 1);
  t.mock.timers.tick(1);
  assert.equal(fired, 2);
});

test('a cancelled timer never fires', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const timer = realClock.after(10, () => assert.fail('it fired'));
  timer.cancel();
  t.mock.timers.tick(20);
});

test('timestamps are UTC with milliseconds', () => {
  assert.equal(isoTime(START + 7), '2030-01-01T00:00:00.007Z');
});
