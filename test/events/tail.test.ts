/** The event log is followed by one read for everybody, and by none while nobody looks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventTail, TAIL_EVERY_MS } from '../../src/events/tail.ts';
import type { TailLine, TailPage } from '../../src/events/tail-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** A log whose reads are counted. */
function countedLog() {
  const lines: TailLine[] = [];
  const counts = { reads: 0, failures: 0 };
  const db = {
    async query(_read: unknown, { after = 0, limit }: { after?: number; limit: number }): Promise<TailPage> {
      counts.reads += 1;
      if (counts.failures-- > 0) throw new Error('busy');
      const found = after === 0 && limit === 1 ? lines.slice(-1) : lines.slice(after, after + limit);
      return { lines: found, position: found.at(-1)?.position ?? after };
    },
  };
  const add = (count: number) => {
    for (let index = 0; index < count; index++) lines.push({ position: lines.length + 1 } as TailLine);
  };
  const clock = createFakeClock(0);
  const tail = createEventTail({ db, clock, log: { warn: () => {} } } as never);
  return { tail, clock, counts, add };
}

test('two who follow cost one read each time, see what comes after they began, and nothing is read afterwards', async () => {
  const { tail, clock, counts, add } = countedLog();
  add(3);
  const seen: number[][] = [[], []];
  const stops = await Promise.all(
    seen.map((positions) =>
      tail.follow(({ lines }) => void positions.push(...lines.map(({ position }) => position))),
    ),
  );
  assert.equal(counts.reads, 1);
  add(2);
  await clock.advance(TAIL_EVERY_MS);
  assert.deepEqual(seen, [
    [4, 5],
    [4, 5],
  ]);
  assert.equal(counts.reads, 2);
  for (const stop of stops) stop();
  await clock.advance(10 * TAIL_EVERY_MS);
  assert.equal(counts.reads, 2);
});

test('more events than one read takes are skipped, which is counted', async () => {
  const { tail, clock, add } = countedLog();
  let skipped = 0;
  let shown = 0;
  const stop = await tail.follow((news) => {
    skipped += news.skipped;
    shown += news.lines.length;
  });
  add(5_000);
  await clock.advance(TAIL_EVERY_MS);
  assert.deepEqual([shown, skipped], [2_000, 3_000]);
  add(1);
  await clock.advance(TAIL_EVERY_MS);
  assert.deepEqual([shown, skipped], [2_001, 3_000]);
  stop();
});

test('a read that fails is made again', async () => {
  const { tail, clock, counts, add } = countedLog();
  let shown = 0;
  const stop = await tail.follow(({ lines }) => {
    shown += lines.length;
  });
  add(1);
  counts.failures = 1;
  await clock.advance(TAIL_EVERY_MS);
  assert.equal(shown, 0);
  await clock.advance(5_000);
  assert.equal(shown, 1);
  stop();
});
