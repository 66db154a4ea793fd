import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REPORT, type Outcome } from '../../../src/queue/outcome/outcome.ts';
import { Pace } from '../../../src/queue/site/pace.ts';

const MINUTE_MS = 60_000;
const NO_JITTER = () => 0.5;
const UNREACHABLE: Outcome = {
  kind: 'deferred',
  report: { ...NO_REPORT, phase: 'connect', text: 'ECONNREFUSED' },
};

function fail(pace: Pace, times: number, now = 0): void {
  for (let index = 0; index < times; index++) pace.refused(UNREACHABLE, now);
}

test('a site begins with two connections and gets one more after each round, up to its limit', () => {
  const pace = new Pace(4);
  assert.equal(pace.connections, 2);
  const counts = Array.from({ length: 20 }, () => {
    pace.delivered(0);
    return pace.connections;
  });
  assert.deepEqual(counts.slice(0, 5), [2, 3, 3, 3, 4]);
  assert.equal(counts.at(-1), 4);
});

test('a refusal halves the connections, down to one', () => {
  const pace = new Pace(8);
  for (let index = 0; index < 100; index++) pace.delivered(0);
  const counts = Array.from({ length: 4 }, () => {
    pace.refused(UNREACHABLE, 0);
    return pace.connections;
  });
  assert.deepEqual(counts, [4, 2, 1, 1]);
});

test('five failures in a row suspend a site, and its mail is deferred with the last reply', () => {
  const pace = new Pace(8);
  fail(pace, 4);
  assert.equal(pace.suspendedOutcome(NO_JITTER, 0, 1), undefined);
  fail(pace, 1);
  const outcome = pace.suspendedOutcome(NO_JITTER, 0, 1);
  assert.ok(outcome?.kind === 'deferred');
  assert.equal(outcome.report.text, 'Not tried, after 5 failures in a row. Last: ECONNREFUSED');
  assert.equal(outcome.retryAfterMs, 2 * MINUTE_MS);
});

test('mail for a suspended site waits for its own retry time when that is later', () => {
  const pace = new Pace(8);
  fail(pace, 5);
  const outcome = pace.suspendedOutcome(NO_JITTER, 0, 4);
  assert.equal(outcome?.kind === 'deferred' && outcome.retryAfterMs, 20 * MINUTE_MS);
});

test('after a suspension one delivery tries the site; each failure makes the next suspension longer, up to half an hour', () => {
  const pace = new Pace(8);
  fail(pace, 5);
  let now = 0;
  const rests = [2, 5, 15, 30, 30].map((minutes) => {
    assert.ok(pace.suspendedOutcome(NO_JITTER, now + minutes * MINUTE_MS - 1, 1));
    now += minutes * MINUTE_MS;
    assert.equal(pace.suspendedOutcome(NO_JITTER, now, 1), undefined);
    assert.equal(pace.connections, 1);
    pace.refused(UNREACHABLE, now);
    return minutes;
  });
  assert.equal(rests.length, 5);
});

test('deliveries that were running when the suspension began do not make it longer', () => {
  const pace = new Pace(8);
  fail(pace, 8);
  assert.equal(pace.suspendedOutcome(NO_JITTER, 2 * MINUTE_MS, 1), undefined);
});

test('a connection ends the suspension and forgets the failures', () => {
  const pace = new Pace(8);
  fail(pace, 5);
  pace.connected();
  assert.equal(pace.suspendedOutcome(NO_JITTER, 0, 1), undefined);
  fail(pace, 4);
  assert.equal(pace.suspendedOutcome(NO_JITTER, 0, 1), undefined);
});

test('a site is proven for an hour after a delivery, or until something fails', () => {
  const pace = new Pace(8);
  assert.equal(pace.isProven(0), false);
  pace.delivered(0);
  assert.equal(pace.isProven(60 * MINUTE_MS - 1), true);
  assert.equal(pace.isProven(60 * MINUTE_MS), false);
  pace.delivered(0);
  pace.brokeOff();
  assert.equal(pace.isProven(0), false);
  pace.delivered(0);
  fail(pace, 1);
  assert.equal(pace.isProven(0), false);
});
