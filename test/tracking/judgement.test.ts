/** What a judgement is told of an email, and how SQLite finds it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EngagementRequest, recordEngagement } from '../../src/tracking/engagements/record.ts';
import { findNextJudgement, listDueEngagements } from '../../src/tracking/judgement/store.ts';
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
  assert.equal(await findNextJudgement(tx), undefined);
  await recordEngagement.run(tx, { ...click, at: 100_500, link: 1 });
  await recordEngagement.run(tx, click);
  assert.equal(await findNextJudgement(tx), 115_000);
  const due = async (now: number, limit = 10) =>
    (await listDueEngagements.run(tx, { now, limit, nearMs: 0 })).engagements.map(({ link }) => link);
  assert.deepEqual(await due(114_999), []);
  assert.deepEqual(await due(115_000), [0]);
  assert.deepEqual(await due(115_500), [0, 1]);
  assert.deepEqual(await due(115_500, 1), [0]);
});

test('the clicks of the same email that are near are told, and no others', async () => {
  const { tx } = openMemoryDatabase();
  await recordEngagement.run(tx, { ...click, kind: 'open', link: null });
  for (const [link, at] of [90_000, 110_000, 110_001].entries())
    await recordEngagement.run(tx, { ...click, link, at });
  await recordEngagement.run(tx, { ...click, emailId: 'em_2', at: 101_000 });
  const { facts } = await listDueEngagements.run(tx, { now: 115_000, limit: 10, nearMs: 10_000 });
  const times = facts.map(([id, { clicks }]) => [id, clicks.map(({ at }) => at)]);
  assert.deepEqual(times, [['em_1', [90_000, 110_000]]]);
});

test('no engagement, attempt or recipient is found by a scan', async () => {
  const plan = await explain(async (tx) => {
    await recordEngagement.run(tx, click);
    await listDueEngagements.run(tx, { now: 200_000, limit: 10, nearMs: 10_000 });
  });
  assert.deepEqual(
    plan.filter((line) => /^SCAN (?!CONSTANT ROW)|USE TEMP B-TREE FOR GROUP/.test(line)),
    [],
  );
});
