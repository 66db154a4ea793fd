/** Copies of broadcasts wait a moment after each step of urgent mail, and never for long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_WAIT_MS, Precedence } from '../../../src/queue/contents/precedence.ts';
import { concernsUrgent } from '../../../src/queue/schedule/concerns-urgent.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const START_MS = Date.UTC(2026, 0, 1);

test('a copy waits for 10 ms after the last step of urgent mail, and not at all without one', async () => {
  const clock = createFakeClock(START_MS);
  const precedence = new Precedence(clock);
  assert.equal(precedence.wait(), undefined);
  await clock.advance(1_000);
  assert.equal(precedence.wait(), undefined);
  precedence.step();
  let hasWaited = false;
  void precedence.wait()?.then(() => {
    hasWaited = true;
  });
  await clock.advance(6);
  precedence.step();
  await clock.advance(9);
  assert.equal(hasWaited, false);
  await clock.advance(1);
  assert.equal(hasWaited, true);
  assert.equal(precedence.wait(), undefined);
});

test('a copy waits 30 ms at most, however many steps urgent mail takes, and each step keeps it for 10 ms at most', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 15 }), { maxLength: 20 }), async (pauses) => {
      const clock = createFakeClock(START_MS);
      const precedence = new Precedence(clock);
      precedence.step();
      let steppedAt = clock.elapsed();
      let endedAt: number | undefined;
      void precedence.wait()?.then(() => {
        endedAt = clock.elapsed();
      });
      for (const pauseMs of pauses) {
        await clock.advance(pauseMs);
        if (endedAt !== undefined) break;
        precedence.step();
        steppedAt = clock.elapsed();
      }
      await clock.advance(100);
      assert.equal(endedAt, Math.min(steppedAt + 10, MAX_WAIT_MS));
    }),
    { numRuns: 50, seed: 31 },
  );
});

test('urgent mail takes a step when it is due and when it is claimed; copies take none', () => {
  const expected = { report: true, transactional: true, broadcast: false };
  for (const band of ['report', 'transactional', 'broadcast'] as const) {
    const copies = { key: 'copies', tenantId: 'ten_1', band: 'broadcast' } as const;
    const queues = [copies, { key: 'other', tenantId: 'ten_2', band }];
    assert.equal(concernsUrgent({ kind: 'due', queues, withRetries: new Set() }), expected[band]);
    const mail = [{ id: 1, tenantId: 'ten_2', band }];
    const claimed = { kind: 'claimed', site: 's', mail, recipients: 1, exhausted: [] } as const;
    assert.equal(concernsUrgent(claimed), expected[band]);
  }
  assert.equal(concernsUrgent({ kind: 'time' }), false);
});
