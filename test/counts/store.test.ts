/** The counters in the database: slices of a report, the index that they use, and their end after 400 days. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CountQuery, expireCounts, readCounts, storeTally } from '../../src/counts/store.ts';
import { type CountedMail, Tally } from '../../src/counts/tally.ts';
import type { Tx } from '../../src/db/operation.ts';
import { explain } from '../support/explain.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';
import { createAllRetention } from '../support/retention.ts';
import { openTestApp } from '../support/test-app.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-03-01T00:00:00Z');

const mail: CountedMail = {
  ...{ tenantId: 'ten_a', mode: 'live', kind: 'transactional', domainId: 'dom_a', broadcastId: null },
};
const query: CountQuery = {
  ...{ tenantId: 'ten_a', mode: 'live', span: 'hour', from: START, until: START + DAY_MS },
  ...{ filter: { visibleDomainId: null }, groupBy: null },
};

async function count(tx: Tx, at: number, more: Partial<CountedMail> & { to?: string } = {}): Promise<void> {
  const { to = 'a@gmail.com', ...other } = more;
  const tally = new Tally();
  tally.count({ ...mail, ...other }, { to, at, counters: ['accepted'] });
  await storeTally(tx, tally);
}

async function readAll(tx: Tx, asked: CountQuery, rows: number): Promise<[slices: number, spans: unknown[]]> {
  const spans: unknown[] = [];
  let after: Parameters<typeof readCounts.run>[1]['after'] = null;
  for (let slices = 1; ; slices++) {
    const part: Awaited<ReturnType<typeof readCounts.run>> = await readCounts.run(tx, {
      ...asked,
      after,
      rows,
    });
    spans.push(
      ...part.spans.map(({ start, group, accepted }) => [(start - START) / HOUR_MS, group, accepted]),
    );
    if (part.next === null) return [slices, spans];
    after = part.next;
  }
}

test('a report reads every row once, in slices of any size, and no row of others', async () => {
  const { tx, close } = openMemoryDatabase();
  for (let hour = 0; hour < 5; hour++) {
    for (const to of ['a@gmail.com', 'a@yahoo.com', 'a@example.com'])
      await count(tx, START + hour * HOUR_MS, { to });
    await count(tx, START + hour * HOUR_MS, { domainId: 'dom_b' });
    await count(tx, START + hour * HOUR_MS, { tenantId: 'ten_b' });
    await count(tx, START + hour * HOUR_MS, { mode: 'test' });
  }
  await count(tx, START - 1);
  await count(tx, START + DAY_MS);
  const [once, spans] = await readAll(tx, query, 1_000);
  assert.deepEqual([once, spans], [1, [0, 1, 2, 3, 4].map((hour) => [hour, null, 4])]);
  for (const rows of [1, 3, 7, 20]) {
    const [slices, parts] = await readAll(tx, query, rows);
    const sums = Map.groupBy(parts as [number, null, number][], ([hour]) => hour);
    assert.deepEqual(
      [...sums].map(([hour, some]) => [hour, null, some.reduce((sum, [, , more]) => sum + more, 0)]),
      spans,
    );
    assert.equal(slices, Math.floor(20 / rows) + 1);
  }
  const byDomain = { ...query, until: START + HOUR_MS, groupBy: 'domainId' } as const;
  assert.deepEqual((await readAll(tx, byDomain, 100))[1], [
    [0, 'dom_a', 3],
    [0, 'dom_b', 1],
  ]);
  const limited = {
    ...query,
    until: START + HOUR_MS,
    filter: { visibleDomainId: 'dom_b', domainId: 'dom_a' },
  } as const;
  assert.deepEqual((await readAll(tx, limited, 100))[1], []);
  close();
});

test('a report walks the primary key and sorts nothing', async () => {
  const plan = await explain(async (tx) => {
    for (let hour = 0; hour < 3; hour++) await count(tx, START + hour * HOUR_MS);
    await readAll(tx, query, 2);
  });
  const walks = plan.filter((line) => line.includes('counts'));
  for (const line of walks)
    assert.match(
      line,
      /^SEARCH counts USING PRIMARY KEY \(tenantId=\? AND mode=\? AND span=\? AND .*start<\?\)$/,
    );
  assert.ok(walks.length >= 4);
  assert.deepEqual(
    plan.filter((line) => line.includes('TEMP B-TREE')),
    [],
  );
});

test('a write stores each counter once, however often it counts', async () => {
  const { tx, database, close } = openMemoryDatabase();
  const tally = new Tally();
  for (let time = 0; time < 100; time++)
    tally.count(mail, { to: 'a@gmail.com', at: START, counters: ['accepted'] });
  await storeTally(tx, tally);
  await storeTally(tx, tally);
  assert.deepEqual(database.prepare('SELECT span, accepted FROM counts ORDER BY span').all(), [
    { span: 'day', accepted: 100 },
    { span: 'hour', accepted: 100 },
  ]);
  close();
});

test('counters expire in slices, the oldest first', async () => {
  const { tx, database, close } = openMemoryDatabase();
  for (let hour = 0; hour < 10; hour++) await count(tx, START + hour * HOUR_MS);
  const before = START + 6 * HOUR_MS;
  assert.deepEqual(await expireCounts.run(tx, { before, rows: 4 }), { next: 'more', deleted: 4 });
  assert.deepEqual(await expireCounts.run(tx, { before, rows: 4 }), { next: undefined, deleted: 3 });
  assert.deepEqual(database.prepare('SELECT min(start) AS first, count(*) AS rows FROM counts').get(), {
    first: before,
    rows: 4,
  });
  close();
});

test('retention deletes counters after 400 days, and not before', async () => {
  const clock = createFakeClock(START);
  await using world = await openTestApp({ system: { clock } });
  const { db } = world.app;
  const counted = async () =>
    (await db.read.selectFrom('counts').select('start').execute()).map(({ start }) => start);
  const body = { from: 'a@sandbox.mx.postrider.example', to: 'a@example.com', subject: 'x', text: 'x' };
  const sent = await world.request('POST', '/v1/emails', { body: { ...body, type: 'transactional' } });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await clock.advance(399 * DAY_MS);
  const work = createAllRetention(world.app);
  /** Waits until the next pass begins, and runs it to its end. */
  const pass = async () => {
    await clock.advance(HOUR_MS);
    for (let slices = 0; slices < 50; slices++) {
      await work.lease(1);
      await clock.advance(50);
    }
  };
  await pass();
  assert.deepEqual(await counted(), [START, START]);
  await clock.advance(DAY_MS);
  await pass();
  assert.deepEqual(await counted(), []);
});
