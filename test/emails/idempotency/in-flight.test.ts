import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInFlight, WAIT_MS } from '../../../src/emails/idempotency/in-flight.ts';
import type { Answer } from '../../../src/emails/idempotency/store.ts';
import { AppError } from '../../../src/system/errors.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const fresh = (response: string): Answer<string> => ({ response, replayed: false });
const flight = (scope: string, requestHash: string) => ({ scope, requestHash });

function slow() {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<string>>();
  return { work: () => promise, resolve, reject };
}

const isInProgress = (error: unknown) => {
  assert.ok(error instanceof AppError);
  assert.deepEqual(
    [error.code, error.options.param, error.options.retryAfterSeconds],
    ['idempotency_in_progress', 'Idempotency-Key', 1],
  );
  return true;
};

test('a repeated request gets the response of the first and has no effect of its own', async () => {
  const inFlight = createInFlight(createFakeClock(0));
  const first = slow();
  let runs = 0;
  const again = async () => {
    runs++;
    return fresh('again');
  };
  const one = inFlight.run(flight('a', 'h'), first.work);
  const others = [1, 2, 3].map(() => inFlight.run(flight('a', 'h'), again));
  assert.deepEqual(
    await inFlight.run(flight('b', 'h'), async () => fresh('another key')),
    fresh('another key'),
  );
  first.resolve(fresh('first'));
  assert.deepEqual(await one, fresh('first'));
  for (const other of others) assert.deepEqual(await other, { response: 'first', replayed: true });
  assert.equal(runs, 0);
  assert.deepEqual(await inFlight.run(flight('a', 'h'), again), fresh('again'), 'nothing is kept of it');
});

test('a repeated request gets the refusal of the first', async () => {
  const inFlight = createInFlight(createFakeClock(0));
  const first = slow();
  const refusal = new AppError('suppressed_recipient', 'no');
  const one = assert.rejects(inFlight.run(flight('a', 'h'), first.work), refusal);
  const two = assert.rejects(
    inFlight.run(flight('a', 'h'), async () => fresh('second')),
    refusal,
  );
  first.reject(refusal);
  await Promise.all([one, two]);
});

for (const code of ['invalid_api_key', 'restricted_api_key'] as const) {
  test(`a first request refused for its API key (${code}) does not decide the next one`, async () => {
    const inFlight = createInFlight(createFakeClock(0));
    const first = slow();
    const refusal = new AppError(code, 'revoked meanwhile');
    const one = assert.rejects(inFlight.run(flight('a', 'h'), first.work), refusal);
    const two = inFlight.run(flight('a', 'h'), async () => fresh('of another API key'));
    first.reject(refusal);
    await one;
    assert.deepEqual(await two, fresh('of another API key'));
  });
}

test('a second request with the same key begins when the first has ended, however it ended', async () => {
  const clock = createFakeClock(0);
  const inFlight = createInFlight(clock);
  const order: string[] = [];
  const note = (name: string) => async () => {
    order.push(name);
    return fresh(name);
  };
  const first = slow();
  const one = inFlight.run(flight('a', 'h1'), first.work).catch(() => order.push('first failed'));
  const two = inFlight.run(flight('a', 'h2'), note('second'));
  const three = inFlight.run(flight('a', 'h3'), note('third'));
  await clock.advance(WAIT_MS - 1);
  assert.deepEqual(order, []);
  first.reject(new Error('no'));
  await Promise.all([one, two, three]);
  assert.deepEqual(order, ['first failed', 'second', 'third']);
});

for (const [who, requestHash] of [
  ['the same request', 'h'],
  ['another request', 'other'],
] as const) {
  test(`${who} that waits for ten seconds is told to come back, and does not begin`, async () => {
    const clock = createFakeClock(0);
    const inFlight = createInFlight(clock);
    const first = slow();
    const one = inFlight.run(flight('a', 'h'), first.work);
    let began = false;
    const two = inFlight.run(flight('a', requestHash), async () => {
      began = true;
      return fresh('');
    });
    const refused = assert.rejects(two, isInProgress);
    await clock.advance(WAIT_MS);
    await refused;
    assert.equal(began, false);
    first.resolve(fresh('done'));
    assert.deepEqual(await one, fresh('done'));
    assert.deepEqual(await inFlight.run(flight('a', 'h'), async () => fresh('next')), fresh('next'));
  });
}

test('the limit of ten seconds applies to the whole wait, even for several requests', async () => {
  const clock = createFakeClock(0);
  const inFlight = createInFlight(clock);
  const [first, second] = [slow(), slow()];
  const one = inFlight.run(flight('a', 'h1'), first.work);
  const two = inFlight.run(flight('a', 'h2'), second.work);
  const three = inFlight.run(flight('a', 'h3'), async () => fresh('third'));
  const refused = assert.rejects(three, isInProgress);
  await clock.advance(WAIT_MS - 1_000);
  first.resolve(fresh(''));
  await clock.advance(1_000);
  await refused;
  second.resolve(fresh(''));
  await Promise.all([one, two]);
});
