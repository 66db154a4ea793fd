import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Deadline } from '../../../src/mail/connection/deadline.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { countTimers } from '../smtp/client/session-fixture.ts';

function watched() {
  const { clock, timers, live } = countTimers(createFakeClock(0));
  const passedAt: number[] = [];
  const deadline = new Deadline(clock, () => passedAt.push(clock.elapsed()));
  return { clock, deadline, passedAt, timers, live };
}

test('the last deadline set passes at its own time, longer or shorter than those before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ timeoutMs: fc.integer({ min: 10, max: 100 }), afterMs: fc.nat(9) }), {
        minLength: 1,
        maxLength: 6,
      }),
      async (steps) => {
        const { clock, deadline, passedAt } = watched();
        let dueAt = 0;
        for (const { timeoutMs, afterMs } of steps) {
          deadline.set(timeoutMs);
          dueAt = clock.elapsed() + timeoutMs;
          await clock.advance(afterMs);
          assert.deepEqual(passedAt, []);
        }
        await clock.advance(1_000);
        assert.deepEqual(passedAt, [dueAt]);
      },
    ),
    { numRuns: 30 },
  );
});

test('a deadline that was cancelled does not pass, and leaves no timer', async () => {
  const { clock, deadline, passedAt, live } = watched();
  deadline.set(10);
  deadline.set(5);
  assert.equal(live(), 1);
  deadline.cancel();
  assert.equal(live(), 0);
  await clock.advance(20);
  assert.deepEqual(passedAt, []);
});

test('thousands of deadlines in turn need one timer', async () => {
  const { deadline, timers } = watched();
  for (let round = 0; round < 5_000; round++) {
    deadline.set(300_000);
    deadline.set(600_000);
  }
  assert.equal(timers(), 1);
});
