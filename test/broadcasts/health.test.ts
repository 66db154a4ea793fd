/** A broadcast is paused above 5 % of hard bounces or 0.3 % of complaints, once 500 copies were attempted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeHealth } from '../../src/broadcasts/health.ts';

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
    assert.equal(judgeHealth(of, undefined), reason, JSON.stringify(of));
  }
});

test('after a resume only later copies are judged, again from 500 on', () => {
  const since = counts(600, 300, 100);
  assert.equal(judgeHealth(since, since), undefined);
  assert.equal(judgeHealth(counts(1_099, 799, 599), since), undefined);
  assert.equal(judgeHealth(counts(1_100, 325, 101), since), undefined);
  assert.equal(judgeHealth(counts(1_100, 326, 101), since), 'bounces');
  assert.equal(judgeHealth(counts(1_100, 325, 102), since), 'complaints');
});
