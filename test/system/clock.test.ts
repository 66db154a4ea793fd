import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  isoTime,
  parseTimestamp,
  realClock,
  sleep,
  sleepInForeground,
  TimeoutError,
  withTimeout,
} from '../../src/system/clock.ts';
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

test('sleep resolves after its delay', async () => {
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
  const work = withTimeout(clock, new Promise(() => {}), { timeoutMs: 5_000, what: 'the handshake' });
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
  const limit = { timeoutMs: 10, what: 'x' };
  assert.equal(await withTimeout(counting, Promise.resolve(7), limit), 7);
  await assert.rejects(withTimeout(counting, Promise.reject(new Error('its own')), limit), /its own/);
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

test('a time with an offset is read whatever its form', () => {
  const expected = Date.parse('2026-06-01T10:00:00.000Z');
  for (const text of [
    '2026-06-01T10:00:00Z',
    '2026-06-01T10:00Z',
    '2026-06-01T10:00:00.000Z',
    '2026-06-01T10:00:00,000000000Z',
    '2026-06-01T12:00:00+02:00',
    '2026-06-01T12:00:00+0200',
    '2026-06-01T12:00+02',
    '2026-05-31T22:30:00-11:30',
    '2026-06-01T10:00:00-00:00',
  ]) {
    assert.equal(parseTimestamp(text), expected, text);
  }
  assert.equal(parseTimestamp('2026-06-01T10:00:00.5Z'), expected + 500);
  assert.equal(parseTimestamp('2026-06-01T10:00:00.123999Z'), expected + 123);
  assert.equal(parseTimestamp('2028-02-29T00:00:00Z'), Date.UTC(2028, 1, 29));
  assert.equal(parseTimestamp('0001-01-01T00:00:00Z'), Date.parse('0001-01-01T00:00:00Z'));
});

test('a text that is not a time with an offset is not a timestamp', () => {
  for (const text of [
    ...['', 'tomorrow', 'in 1 hour', '1772366400', '2026-06-01', '2026-06-01T10:00:00', '20260601T100000Z'],
    ...['2026-06-01 10:00:00Z', '2026-06-01t10:00:00z', '2026-6-1T10:00:00Z', ' 2026-06-01T10:00:00Z'],
    ...['2026-06-01T10:00:00Z\n', '2026-06-01T10:00:00.Z', '2026-06-01T10Z', '+02026-06-01T10:00:00Z'],
    ...['2026-02-30T10:00:00Z', '2026-02-29T10:00:00Z', '2026-13-01T10:00:00Z', '2026-00-01T10:00:00Z'],
    ...['2026-06-00T10:00:00Z', '2026-06-31T10:00:00Z', '2026-06-01T24:00:00Z', '2026-06-01T10:60:00Z'],
    ...[
      '2026-06-01T10:00:60Z',
      '2026-06-01T10:00:00+24:00',
      '2026-06-01T10:00:00+02:60',
      '٢٠٢٦-06-01T10:00:00Z',
    ],
  ]) {
    assert.equal(parseTimestamp(text), undefined, text);
  }
});

test('every time JavaScript writes is read back, and no other text throws anything', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date(START), noInvalidDate: true }), (date) => {
      assert.equal(parseTimestamp(date.toISOString()), date.getTime());
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9T:.,Z+-]{0,32}$/), (text) => {
      const read = parseTimestamp(text);
      assert.ok(read === undefined || Number.isSafeInteger(read));
    }),
  );
});

test('a sleep in the foreground keeps the program running', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const sleeping = sleepInForeground(1);
  assert.equal(timers(), before + 1);
  await sleeping;
});
