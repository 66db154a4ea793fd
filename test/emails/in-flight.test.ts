import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInFlight, WAIT_MS } from '../../src/emails/in-flight.ts';
import { AppError } from '../../src/system/errors.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function slow() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { work: () => promise, resolve, reject };
}

test('the second with a key begins when the first has ended, however it ended', async () => {
  const clock = createFakeClock(0);
  const inFlight = createInFlight(clock);
  const order: string[] = [];
  const first = slow();
  const one = inFlight.run('a', first.work).catch(() => order.push('first failed'));
  const two = inFlight.run('a', async () => order.push('second'));
  const three = inFlight.run('a', async () => order.push('third'));
  await inFlight.run('b', async () => order.push('another key'));
  await clock.advance(WAIT_MS - 1);
  assert.deepEqual(order, ['another key']);
  first.reject(new Error('no'));
  await Promise.all([one, two, three]);
  assert.deepEqual(order, ['another key', 'first failed', 'second', 'third']);
});

test('who waits for ten seconds is told to come back, and does not begin', async () => {
  const clock = createFakeClock(0);
  const inFlight = createInFlight(clock);
  const first = slow();
  const one = inFlight.run('a', first.work);
  let began = false;
  const two = inFlight.run('a', async () => {
    began = true;
  });
  const refused = assert.rejects(two, (error) => {
    assert.ok(error instanceof AppError);
    assert.deepEqual(
      [error.code, error.options.param, error.options.retryAfterSeconds],
      ['idempotency_in_progress', 'Idempotency-Key', 1],
    );
    return true;
  });
  await clock.advance(WAIT_MS);
  await refused;
  assert.equal(began, false);
  first.resolve('done');
  assert.equal(await one, 'done');
  assert.equal(await inFlight.run('a', async () => 'next'), 'next');
});

test('the ten seconds are of the whole wait, whoever is waited for', async () => {
  const clock = createFakeClock(0);
  const inFlight = createInFlight(clock);
  const [first, second] = [slow(), slow()];
  const one = inFlight.run('a', first.work);
  const two = inFlight.run('a', second.work);
  const three = inFlight.run('a', async () => 'third');
  const refused = assert.rejects(three, AppError);
  await clock.advance(WAIT_MS - 1_000);
  first.resolve('');
  await clock.advance(1_000);
  await refused;
  second.resolve('');
  await Promise.all([one, two]);
});
