import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Refusal } from '../../../src/queue/schedule/events.ts';
import { Learned } from '../../../src/queue/schedule/learned.ts';

const MINUTE_MS = 60_000;
const MAXIMUM = 8;
const UNREACHABLE: Refusal = { kind: 'unreachable', text: 'ECONNREFUSED' };
const GOODBYE: Refusal = { kind: 'goodbye', text: '421 too many' };

function refuse(learned: Learned, times: number, now = 0, refusal = UNREACHABLE): void {
  for (let index = 0; index < times; index++) learned.refused(refusal, { others: 0, now });
}

function accept(learned: Learned, times: number, now = 0): void {
  for (let index = 0; index < times; index++) learned.accepted(MAXIMUM, now);
}

test('a site begins with two connections and gets one more after each round, up to its limit', () => {
  const learned = new Learned();
  const counts = Array.from({ length: 8 }, () => {
    learned.accepted(4, 0);
    return learned.connections(4, 0);
  });
  assert.deepEqual(counts, [2, 3, 3, 3, 4, 4, 4, 4]);
  assert.equal(learned.connections(3, 0), 3, 'a limit that has become lower counts at once');
});

test('a refusal halves the connections, down to one', () => {
  const learned = new Learned();
  accept(learned, 100);
  const counts = Array.from({ length: 4 }, () => {
    refuse(learned, 1);
    return learned.connections(MAXIMUM, 0);
  });
  assert.deepEqual(counts, [4, 2, 1, 1]);
});

test('a site that says goodbye beside five working connections keeps five, and is asked for a sixth in the round after ten minutes', () => {
  const learned = new Learned();
  accept(learned, 30);
  learned.refused(GOODBYE, { others: 5, now: 0 });
  assert.equal(learned.isProven(0), true);
  accept(learned, 100);
  assert.equal(learned.connections(MAXIMUM, 10 * MINUTE_MS - 1), 5);
  assert.equal(learned.connections(MAXIMUM, 10 * MINUTE_MS), 5);
  accept(learned, 5, 10 * MINUTE_MS);
  assert.equal(learned.connections(MAXIMUM, 10 * MINUTE_MS), 6);
});

test('five refusals in a row let a site rest, and the reason has the last reply', () => {
  const learned = new Learned();
  refuse(learned, 4);
  assert.equal(learned.restAt(0), undefined);
  refuse(learned, 1);
  assert.deepEqual(learned.restAt(0), { until: 45_000, reason: '5 failures in a row. Last: ECONNREFUSED' });
  assert.equal(learned.restAt(45_000), undefined);
  assert.equal(learned.connections(MAXIMUM, 45_000), 1, 'one message tries the site');
});

test('a connection clears nothing: a site that greets and then says goodbye comes to rest', () => {
  const learned = new Learned();
  refuse(learned, 5, 0, GOODBYE);
  assert.equal(learned.restAt(0)?.until, 2 * MINUTE_MS);
});

test('rests after goodbyes become longer up to half an hour, rests of an unreachable site stay short for an hour', () => {
  const [polite, dead] = [new Learned(), new Learned()];
  refuse(polite, 4, 0, GOODBYE);
  refuse(dead, 4);
  let now = 0;
  const rests = Array.from({ length: 5 }, () => {
    refuse(polite, 1, now, GOODBYE);
    const until = polite.restAt(now)?.until ?? 0;
    const rest = (until - now) / MINUTE_MS;
    now = until;
    return rest;
  });
  assert.deepEqual(rests, [2, 5, 15, 30, 30]);
  now = 0;
  const short = Array.from({ length: 61 }, () => {
    refuse(dead, 1, now);
    const until = dead.restAt(now)?.until ?? 0;
    const rest = until - now;
    now = until;
    return rest;
  });
  assert.deepEqual([...new Set(short)], [45_000, 5 * MINUTE_MS]);
  assert.equal(short.filter((rest) => rest === 45_000).length, 60);
});

test('deliveries that were under way when the rest began do not make it longer', () => {
  const learned = new Learned();
  refuse(learned, 8);
  assert.equal(learned.restAt(45_000), undefined);
});

test('an accepted message ends the rest and forgets the refusals', () => {
  const learned = new Learned();
  refuse(learned, 5);
  accept(learned, 1);
  assert.equal(learned.restAt(0), undefined);
  assert.equal(learned.isProbed, false);
  refuse(learned, 4);
  assert.equal(learned.restAt(0), undefined);
});

test('a site is proven for an hour after an accepted message, or until something fails', () => {
  const learned = new Learned();
  assert.equal(learned.isProven(0), false);
  accept(learned, 1);
  assert.equal(learned.isProven(60 * MINUTE_MS - 1), true);
  assert.equal(learned.isProven(60 * MINUTE_MS), false);
  accept(learned, 1);
  learned.brokeOff('lost connection', 0);
  assert.equal(learned.isProven(0), false);
  accept(learned, 1);
  refuse(learned, 1);
  assert.equal(learned.isProven(0), false);
});
