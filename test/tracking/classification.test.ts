/** What a classification is told of an email, and how SQLite finds it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  findBursts,
  findNextClassificationAt,
  listDueEngagements,
} from '../../src/tracking/classification/store.ts';
import { type EngagementRequest, recordEngagements } from '../../src/tracking/engagements/record.ts';
import { explain } from '../support/explain.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

const click: EngagementRequest = {
  kind: 'click',
  emailId: 'em_1',
  link: 0,
  url: 'https://example.com/',
  at: 100_000,
  ip: '192.0.2.1',
  userAgent: 'Firefox',
  method: 'GET',
  isPrefetch: false,
};

test('engagements fall due 15 s after their requests, those first that have waited longest', async () => {
  const { tx } = openMemoryDatabase();
  assert.equal(await findNextClassificationAt(tx), undefined);
  await recordEngagements.run(tx, [{ ...click, at: 100_500, link: 1 }]);
  await recordEngagements.run(tx, [click]);
  assert.equal(await findNextClassificationAt(tx), 115_000);
  const due = async (now: number, limit = 10) =>
    (await listDueEngagements.run(tx, { now, limit })).engagements.map(({ link }) => link);
  assert.deepEqual(await due(114_999), []);
  assert.deepEqual(await due(115_000), [0]);
  assert.deepEqual(await due(115_500), [0, 1]);
  assert.deepEqual(await due(115_500, 1), [0]);
});

test('three links of the same email within 10 s are a burst, also when the last is not due yet', async () => {
  const { tx } = openMemoryDatabase();
  await recordEngagements.run(tx, [{ ...click, kind: 'open', link: null, url: null }]);
  for (const [link, at] of [100_000, 105_000, 110_000].entries())
    await recordEngagements.run(tx, [{ ...click, link, at }]);
  for (const [link, at] of [100_000, 105_000, 110_001].entries())
    await recordEngagements.run(tx, [{ ...click, emailId: 'em_2', link, at }]);
  const { engagements, facts } = await listDueEngagements.run(tx, { now: 115_000, limit: 10 });
  assert.equal(engagements.length, 3);
  assert.deepEqual(
    facts.map(([emailId, { bursts }]) => ({ emailId, bursts })),
    [
      { emailId: 'em_1', bursts: [{ from: 100_000, to: 110_000, ips: ['192.0.2.1'] }] },
      { emailId: 'em_2', bursts: [] },
    ],
  );
});

test('bursts are found as by counting the links around every click', () => {
  const clicks = fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 60_000 }),
      link: fc.integer({ min: 0, max: 4 }),
      ip: fc.constant(null),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(clicks, (some) => {
      const sorted = some.toSorted((a, b) => a.at - b.at);
      const bursts = findBursts(sorted);
      for (const { at } of sorted) {
        const isBurst = sorted.some(({ at: from }) => {
          const near = sorted.filter((one) => one.at >= from && one.at <= from + 10_000);
          return at >= from && at <= from + 10_000 && new Set(near.map(({ link }) => link)).size >= 3;
        });
        assert.equal(
          bursts.some(({ from, to }) => at >= from && at <= to),
          isBurst,
        );
      }
    }),
  );
});

test('no engagement, attempt or recipient is found by a scan', async () => {
  const plan = await explain(async (tx) => {
    await recordEngagements.run(tx, [click]);
    await listDueEngagements.run(tx, { now: 200_000, limit: 10 });
  });
  assert.deepEqual(
    plan.filter((line) => /^SCAN (?!CONSTANT ROW)|USE TEMP B-TREE FOR GROUP/.test(line)),
    [],
  );
});
