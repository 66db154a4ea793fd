import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../src/system/dns/answer.ts';
import { createCache } from '../../../src/system/dns/cache.ts';
import type { Question } from '../../../src/system/dns/message.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const QUESTION: Question = { name: 'a.example', type: 'TXT' };
/** As many answers of a few characters do not fit into 32 MiB: each counts for 400 bytes and 100 for its record. */
const SMALL_ANSWERS = 66_000;
const FAILED: Finding = { kind: 'failed', reason: 'ETIMEOUT' };

function found(text: string, ttlMs: number): Finding {
  return { kind: 'found', records: [{ type: 'TXT', text }], ttlMs };
}

/** A resolver that answers `now.finding`, and counts. */
function world(first: Finding) {
  const clock = createFakeClock(0);
  const now = { finding: first, asked: 0 };
  const cache = createCache(clock, async () => {
    now.asked += 1;
    return now.finding;
  });
  return { clock, now, ...cache };
}

test('an answer is kept until its time is up, and says how much of it is left', async () => {
  const { clock, now, cached } = world(found('old', 10_000));
  assert.deepEqual(await cached(QUESTION), found('old', 10_000));
  now.finding = found('new', 10_000);
  await clock.advance(9_999);
  assert.deepEqual(await cached(QUESTION), found('old', 1));
  assert.equal(now.asked, 1);
  await clock.advance(1);
  assert.deepEqual(await cached(QUESTION), found('new', 10_000));
  assert.equal(now.asked, 2);
});

test('a negative answer is cached too', async () => {
  for (const kind of ['no-data', 'no-name'] as const) {
    const { clock, now, cached } = world({ kind, ttlMs: 10_000 });
    await cached(QUESTION);
    await clock.advance(4_000);
    assert.deepEqual(await cached(QUESTION), { kind, ttlMs: 6_000 });
    assert.equal(now.asked, 1);
  }
});

test('an answer with TTL 0 is asked for each time, and removes what was cached before', async () => {
  const { now, cached, fresh } = world(found('kept', 10_000));
  await cached(QUESTION);
  now.finding = { kind: 'no-data', ttlMs: 0 };
  await fresh(QUESTION);
  assert.deepEqual(await cached(QUESTION), { kind: 'no-data', ttlMs: 0 });
  await cached(QUESTION);
  assert.equal(now.asked, 4);
});

test('questions are told apart by name and type', async () => {
  const { now, cached } = world(found('x', 10_000));
  await cached(QUESTION);
  await cached({ ...QUESTION, name: 'b.example' });
  await cached({ ...QUESTION, type: 'MX' });
  assert.equal(now.asked, 3);
});

test('a wall clock that jumps neither ages nor freezes an answer', async () => {
  const { clock, now, cached } = world(found('x', 10_000));
  await cached(QUESTION);
  clock.now = () => 4_000_000_000_000;
  await cached(QUESTION);
  assert.equal(now.asked, 1);
  clock.now = () => 0;
  await clock.advance(10_000);
  await cached(QUESTION);
  assert.equal(now.asked, 2);
});

test('a failure is remembered for five seconds', async () => {
  const { clock, now, cached } = world(FAILED);
  assert.deepEqual(await cached(QUESTION), FAILED);
  now.finding = found('back', 10_000);
  await clock.advance(4_999);
  assert.deepEqual(await cached(QUESTION), FAILED);
  await clock.advance(1);
  assert.deepEqual(await cached(QUESTION), found('back', 10_000));
});

test('while the resolver fails, what was found serves on for an hour', async () => {
  const { clock, now, cached } = world(found('x', 10_000));
  await cached(QUESTION);
  now.finding = FAILED;
  await clock.advance(10_000);
  assert.deepEqual(await cached(QUESTION), found('x', 30_000));
  await clock.advance(3_599_999);
  assert.deepEqual(await cached(QUESTION), found('x', 30_000));
  await clock.advance(1);
  assert.deepEqual(await cached(QUESTION), FAILED);
});

test('a resolver that fails is asked again every half minute, and believed at once when it is back', async () => {
  const { clock, now, cached } = world(found('old', 10_000));
  await cached(QUESTION);
  now.finding = FAILED;
  await clock.advance(10_000);
  await cached(QUESTION);
  assert.equal(now.asked, 2);
  await clock.advance(29_999);
  await cached(QUESTION);
  assert.equal(now.asked, 2);
  now.finding = found('new', 10_000);
  await clock.advance(1);
  assert.deepEqual(await cached(QUESTION), found('new', 10_000));
});

test('an expired negative answer is never served, so that no mail bounces on an old answer', async () => {
  for (const kind of ['no-data', 'no-name'] as const) {
    const { clock, now, cached } = world({ kind, ttlMs: 10_000 });
    await cached(QUESTION);
    now.finding = FAILED;
    await clock.advance(10_000);
    assert.deepEqual(await cached(QUESTION), FAILED);
  }
});

test('a fresh question is always asked; when it fails it says so, and takes nothing away', async () => {
  const { now, cached, fresh } = world(found('x', 10_000));
  await fresh(QUESTION);
  await fresh(QUESTION);
  assert.equal(now.asked, 2);
  now.finding = FAILED;
  assert.deepEqual(await fresh(QUESTION), FAILED);
  assert.deepEqual(await cached(QUESTION), found('x', 10_000));
  assert.equal(now.asked, 3);
});

test('memory is bounded, by many small answers and by fewer large ones', async () => {
  const { now, cached } = world(found('small', 86_400_000));
  const ask = (index: number) => cached({ name: `n${index}.example`, type: 'TXT' });
  for (let index = 0; index < SMALL_ANSWERS; index++) await ask(index);
  await ask(SMALL_ANSWERS - 1);
  assert.equal(now.asked, SMALL_ANSWERS, 'the last is kept');
  await ask(0);
  assert.equal(now.asked, SMALL_ANSWERS + 1, 'the first had to go');

  now.finding = found('x'.repeat(60_000), 86_400_000);
  for (let index = 100_000; index < 100_400; index++) await ask(index);
  const before = now.asked;
  for (let index = 100_399; index >= 100_000; index--) await ask(index);
  assert.ok(now.asked - before > 100, `${now.asked - before} had to go`);
});
