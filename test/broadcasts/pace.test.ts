/** The pace of a broadcast: so many copies in an hour or a day, or all of them by a time, whatever the clock does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evaluateHealth } from '../../src/broadcasts/copy.ts';
import { type Pace, planCopies, readPace } from '../../src/broadcasts/pace.ts';
import { AppError } from '../../src/system/errors.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const HOUR_MS = 3_600_000;
const iso = (at: number) => new Date(at).toISOString();

/** Makes copies for a while, asking again when told to, and returns when each was made. */
function send(
  pace: Pace | null,
  { contacts, forMs, limit = 50 }: { contacts: number; forMs: number; limit?: number },
) {
  const madeAt: number[] = [];
  let nextCopyAt: number | null = null;
  let now = NOW;
  while (now < NOW + forMs && madeAt.length < contacts) {
    const planned = planCopies({ pace, nextCopyAt, now, waiting: contacts - madeAt.length, limit });
    for (let copy = 0; copy < planned.copies; copy++) madeAt.push(now);
    nextCopyAt = planned.nextCopyAt;
    now = Math.max(now + 1, planned.copies < limit ? (nextCopyAt ?? now) : now);
  }
  return madeAt;
}

test('without a pace, as many copies are made as fit', () => {
  const moment = { pace: null, nextCopyAt: null, now: NOW };
  assert.deepEqual(planCopies({ ...moment, waiting: 500, limit: 100 }), { copies: 100, nextCopyAt: null });
  assert.deepEqual(planCopies({ ...moment, waiting: 5, limit: 100 }), { copies: 5, nextCopyAt: null });
});

test('no hour has more copies than its pace, and no day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 1, max: 300 }), (perHour, limit) => {
      const forMs = Math.min(2 * HOUR_MS, (3_000 * HOUR_MS) / perHour);
      const made = send({ perHour }, { contacts: 1_000_000, forMs, limit });
      // One copy is due at the very beginning.
      assert.ok(made.length <= Math.ceil((perHour * forMs) / HOUR_MS) + 1, `${made.length} of ${perHour}`);
      const least = Math.floor((perHour * forMs) / HOUR_MS / (1 + perHour / HOUR_MS));
      assert.ok(made.length >= least, `${made.length} of ${perHour}, at least ${least}`);
    }),
    { numRuns: 60 },
  );
  assert.equal(send({ perDay: 24 }, { contacts: 100, forMs: 3 * HOUR_MS }).length, 3);
});

test('all copies are made by the time that was asked for, evenly', () => {
  const finishBy = iso(NOW + HOUR_MS);
  const made = send({ finishBy }, { contacts: 3_600, forMs: 2 * HOUR_MS });
  assert.equal(made.length, 3_600);
  assert.ok((made.at(-1) ?? 0) <= NOW + HOUR_MS);
  const half = made.filter((at) => at < NOW + HOUR_MS / 2).length;
  assert.ok(half > 1_700 && half < 1_900, `${half} in the first half`);
});

test('after the time that was asked for, there is no limit', () => {
  const late = { pace: { finishBy: iso(NOW - 1) }, nextCopyAt: NOW + HOUR_MS, now: NOW };
  assert.equal(planCopies({ ...late, waiting: 500, limit: 100 }).copies, 100);
});

test('contacts that are found later are spread over the rest of the time', () => {
  const pace = { finishBy: iso(NOW + HOUR_MS) };
  const first = planCopies({ pace, nextCopyAt: null, now: NOW, waiting: 1, limit: 100 });
  assert.equal(first.copies, 1);
  const then = planCopies({
    pace,
    nextCopyAt: first.nextCopyAt,
    now: NOW + 1_000,
    waiting: 3_599,
    limit: 100,
  });
  assert.ok((then.nextCopyAt ?? 0) <= NOW + 3_000, 'the next copy is due within an interval of now');
});

test('a jump of the clock ahead makes up for a second at most, and a jump back waits for one interval at most', () => {
  const pace = { perHour: 3_600 };
  const ahead = planCopies({ pace, nextCopyAt: NOW - 86_400_000, now: NOW, waiting: 500, limit: 100 });
  assert.deepEqual(ahead, { copies: 2, nextCopyAt: NOW + 1_000 });
  const back = planCopies({ pace, nextCopyAt: NOW + 86_400_000, now: NOW, waiting: 500, limit: 100 });
  assert.deepEqual(back, { copies: 0, nextCopyAt: NOW + 1_000 });
});

test('a changed pace holds from the next copy on', () => {
  const slow = planCopies({ pace: { perDay: 1 }, nextCopyAt: null, now: NOW, waiting: 500, limit: 100 });
  assert.equal(slow.nextCopyAt, NOW + 24 * HOUR_MS);
  const { nextCopyAt } = slow;
  assert.equal(planCopies({ pace: null, nextCopyAt, now: NOW, waiting: 500, limit: 100 }).copies, 100);
  const fast = planCopies({ pace: { perHour: 3_600 }, nextCopyAt, now: NOW, waiting: 500, limit: 100 });
  assert.deepEqual(fast, { copies: 0, nextCopyAt: NOW + 1_000 });
});

test('a pace has exactly one field, and a time in the next year', () => {
  assert.deepEqual(readPace({ perHour: 5 }, NOW), { perHour: 5 });
  assert.deepEqual(readPace({ perDay: 5 }, NOW), { perDay: 5 });
  const at = '2026-11-24T13:00:00+01:00';
  assert.deepEqual(readPace({ finishBy: at }, NOW), { finishBy: '2026-11-24T12:00:00.000Z' });
  for (const [pace, param] of [
    [{}, 'pace'],
    [{ perHour: 5, perDay: 5 }, 'pace'],
    [{ perHour: 5, finishBy: at }, 'pace'],
    [{ finishBy: 'tomorrow' }, 'pace.finishBy'],
    [{ finishBy: '2026-11-24T13:00:00' }, 'pace.finishBy'],
    [{ finishBy: iso(NOW) }, 'pace.finishBy'],
    [{ finishBy: iso(NOW + 367 * 24 * HOUR_MS) }, 'pace.finishBy'],
  ] as const) {
    assert.throws(
      () => readPace(pace, NOW),
      (error) => error instanceof AppError && error.options.param === param,
      JSON.stringify(pace),
    );
  }
});

const counts = (sent: number, bouncedPermanently = 0, complained = 0) => ({
  sent,
  bouncedPermanently,
  complained,
});

test('rates are judged from 500 attempted copies on, and only above their limits', () => {
  for (const [of, reason] of [
    [counts(0), undefined],
    [counts(499, 499, 499), undefined],
    [counts(500, 25), undefined],
    [counts(500, 26), 'bounces'],
    [counts(1_000, 50, 3), undefined],
    [counts(1_000, 50, 4), 'complaints'],
    [counts(1_000, 51, 4), 'bounces'],
    [counts(500, 0, 2), 'complaints'],
    [counts(500, 0, 1), undefined],
  ] as const) {
    assert.equal(evaluateHealth(of, undefined), reason, JSON.stringify(of));
  }
});

test('after a resume only later copies are judged, again from 500 on', () => {
  const since = counts(600, 300, 100);
  assert.equal(evaluateHealth(since, since), undefined);
  assert.equal(evaluateHealth(counts(1_099, 799, 599), since), undefined);
  assert.equal(evaluateHealth(counts(1_100, 325, 101), since), undefined);
  assert.equal(evaluateHealth(counts(1_100, 326, 101), since), 'bounces');
  assert.equal(evaluateHealth(counts(1_100, 325, 102), since), 'complaints');
});
