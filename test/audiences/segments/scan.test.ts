import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Filter } from '../../../src/audiences/segments/filter.ts';
import { createScans, type ScanLimits } from '../../../src/audiences/segments/scan.ts';
import {
  countIdRange,
  findIdRange,
  readSegmentSlice,
  type SegmentQuery,
} from '../../../src/audiences/segments/store.ts';
import type { Db } from '../../../src/db/database.ts';
import { AppError } from '../../../src/system/errors.ts';
import { nextSlice } from '../../../src/system/slices.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const CONTACTS = 25;
const audience = await world.request('POST', '/v1/audiences', { body: { name: 'readers' } });
const audienceId = audience.body.id;
/** Newest first. */
const ids: string[] = [];
for (let index = 0; index < CONTACTS; index++) {
  await clock.advance(1);
  const body = { email: `c${index}@a.example`, properties: { n: index } };
  ids.unshift((await world.request('POST', `/v1/audiences/${audienceId}/contacts`, { body })).body.id);
}

const { tenantId } = world;
const limits: ScanLimits = {
  ...{ minContacts: 4, maxContacts: 4, sliceMs: 100, maxConcurrentSlices: 2 },
  ...{ maxSlicesPerPage: 2, maxScans: 3, scansPerFree: 1 },
};

function asking(filter: Filter, tenant: SegmentQuery['tenantId'] = tenantId): SegmentQuery {
  return { tenantId: tenant, audienceId, filter, now: clock.now() };
}

const numbered = (cmp: 'lt' | 'gte', value: number) =>
  asking({ op: 'and', rules: [{ field: 'properties.n', cmp, value }] });
const everybody = numbered('gte', 0);
const nobody = numbered('lt', 0);

/** The database, and the slices it was asked for. */
function watched() {
  const slices = { underWay: 0, most: 0, scanned: [] as number[] };
  const db: Pick<Db, 'query'> = {
    async query(read, input) {
      slices.underWay += 1;
      slices.most = Math.max(slices.most, slices.underWay);
      const { scan } = input as { scan?: number };
      if (scan !== undefined) slices.scanned.push(scan);
      try {
        return await world.app.db.query(read, input);
      } finally {
        slices.underWay -= 1;
      }
    },
  };
  return { slices, scans: createScans({ db: { ...world.app.db, ...db } }, limits) };
}

test('an audience is counted in slices, to its end', async () => {
  const { slices, scans } = watched();
  assert.equal(await scans.count(numbered('lt', 7)), 7);
  assert.deepEqual(slices.scanned, Array(Math.ceil(CONTACTS / 4)).fill(4));
  assert.equal(await scans.count(everybody), CONTACTS);
});

test('two slices at a time are looked at, by one who counts and for all who ask', async () => {
  const { slices, scans } = watched();
  assert.equal(await scans.count(everybody), CONTACTS);
  assert.equal(slices.most, 2);
  const counts = await Promise.all([scans.count(everybody), scans.page(everybody, { limit: 9 })]);
  assert.equal(counts[0], CONTACTS);
  assert.equal(slices.most, 2);
});

test('a slice is as long as the one before lets expect, so that it takes no longer than it may', async () => {
  const msOfContact = [100, 100, 5];
  const sizes: number[] = [];
  const db: Pick<Db, 'query'> = {
    async query(read, input) {
      const answer = await world.app.db.query(read, input);
      const { scan, idRange } = input as { scan?: number; idRange?: { scanned: number } };
      if (scan !== undefined) sizes.push(scan);
      if (read.name === 'segments.idRange') return answer;
      // A wait for the thread, which says nothing of the contacts.
      await clock.advance(60_000);
      const scanned = scan ?? idRange?.scanned ?? Number.NaN;
      return { ...answer, tookMs: scanned * (msOfContact.shift() ?? 1) };
    },
  };
  const paced = { ...limits, minContacts: 2, maxContacts: 11, maxConcurrentSlices: 1 };
  const scans = createScans({ db: { ...world.app.db, ...db } }, paced);
  assert.equal(await scans.count(everybody), CONTACTS);
  assert.deepEqual(sizes, [2, 2, 2, 11, 11]);
  assert.equal((await scans.page(nobody, { limit: 5 })).items.length, 0);
  assert.deepEqual(sizes.slice(5), [2, 11], 'each query begins anew');
});

test('a slice says what it took of its thread', async () => {
  const slice = { ...everybody, after: undefined, scan: 4 };
  const idRange = await world.app.db.query(findIdRange, slice);
  assert.ok(idRange);
  const before = performance.now();
  const { tookMs, count } = await world.app.db.query(countIdRange, { ...everybody, idRange });
  const { tookMs: read } = await world.app.db.query(readSegmentSlice, { ...slice, limit: 4 });
  assert.equal(count, 4);
  assert.ok(tookMs > 0 && read > 0 && tookMs + read <= performance.now() - before);
});

test('a scan that finds nobody examines no more than its slices, and goes on from where it ended', async () => {
  const { slices, scans } = watched();
  const first = await scans.page(nobody, { limit: 5 });
  assert.deepEqual(first, { items: [], hasMore: true, last: ids[7] });
  assert.equal(slices.scanned.length, 2);
  const back = await scans.page(nobody, { limit: 5, endingBefore: ids[24]! });
  assert.deepEqual(back, { items: [], hasMore: true, last: ids[16] });
  const end = await scans.page(nobody, { limit: 5, startingAfter: ids[20]! });
  assert.deepEqual(end, { items: [], hasMore: false, last: undefined });
});

for (const direction of ['older', 'newer'] as const) {
  test(`page after page, ${direction} ones, everybody is met once and in order`, async () => {
    const { scans } = watched();
    for (const limit of [1, 3, 4, 7, 8, 30]) {
      for (const query of [everybody, numbered('lt', 6), numbered('gte', 20), nobody]) {
        const met: string[] = [];
        let last: string | undefined;
        do {
          const cursor =
            last === undefined
              ? {}
              : direction === 'older'
                ? { startingAfter: last }
                : { endingBefore: last };
          const start = direction === 'newer' && last === undefined ? { endingBefore: 'ct_' } : cursor;
          const page = await scans.page(query, { limit, ...start });
          assert.ok(page.items.length <= limit);
          const found = page.items.map(({ id }) => id);
          if (direction === 'older') met.push(...found);
          else met.unshift(...found);
          assert.equal(page.hasMore, page.last !== undefined);
          last = page.last;
        } while (last !== undefined);
        const expected =
          query === everybody
            ? ids
            : query === nobody
              ? []
              : query.filter.rules.some((rule) => 'cmp' in rule && rule.cmp === 'lt')
                ? ids.slice(-6)
                : ids.slice(0, 5);
        assert.deepEqual(met, expected);
      }
    }
  });
}

test('a page stays within the times it is asked for', async () => {
  const { scans } = watched();
  const range = { from: ids[10]!, until: ids[2]! };
  const older = await scans.page(everybody, { limit: 30, ...range });
  const newer = await scans.page(everybody, { limit: 30, ...range, endingBefore: 'ct_' });
  for (const page of [older, newer]) {
    assert.deepEqual(
      page.items.map(({ id }) => id),
      ids.slice(3, 11),
    );
  }
});

test('a tenant finds no contacts in an audience of another tenant', async () => {
  const { scans } = watched();
  const other = await world.addTenant('stranger');
  assert.equal(await scans.count(asking(everybody.filter, other.tenantId)), 0);
});

test('few look at the same time, of one tenant and in all; who is refused is told when to come back', async () => {
  const { scans } = watched();
  const others = [await world.addTenant('a'), await world.addTenant('b')];
  const refused = (promise: Promise<unknown>) =>
    assert.rejects(promise, (error) => {
      assert.ok(error instanceof AppError);
      assert.deepEqual([error.code, error.options.retryAfterSeconds], ['unavailable', 1]);
      return true;
    });
  const running = [scans.count(everybody), scans.page(everybody, { limit: 1 })];
  await refused(scans.count(everybody));
  const theirs = others.map(({ tenantId: tenant }) => scans.count(asking(everybody.filter, tenant)));
  await refused(theirs[1]!);
  await Promise.all([...running, theirs[0]]);
  assert.equal(await scans.count(everybody), CONTACTS);
});

test('a slice that fails ends its own query, and no other', async () => {
  let fails = true;
  let stretches = 0;
  const db: Pick<Db, 'query'> = {
    query(read, input) {
      if (read.name === 'segments.idRange') stretches += 1;
      if (!fails || read.name === 'segments.idRange') return world.app.db.query(read, input);
      fails = false;
      return Promise.reject(new Error('a reader has failed'));
    },
  };
  const scans = createScans({ db: { ...world.app.db, ...db } }, limits);
  const [first, second] = await Promise.allSettled([scans.count(everybody), scans.count(everybody)]);
  assert.equal(first.status, 'rejected');
  assert.deepEqual(second, { status: 'fulfilled', value: CONTACTS });
  const wholeCount = Math.ceil(CONTACTS / 4);
  assert.ok(stretches <= wholeCount + 2 * limits.maxConcurrentSlices, String(stretches));
});

test('a count that nobody waits for ends at its next slice, and the others have its turns', async () => {
  const { slices, scans } = watched();
  const disconnect = new AbortController();
  const left = scans.count(everybody, disconnect.signal);
  const waiting = scans.count(everybody);
  while (slices.scanned.length < 2) await nextSlice();
  const byThen = slices.scanned.length;
  const reason = new AppError('request_timeout', 'gone');
  disconnect.abort(reason);
  await assert.rejects(left, reason);
  assert.equal(await waiting, CONTACTS);
  const wholeCount = Math.ceil(CONTACTS / 4);
  assert.ok(slices.scanned.length <= byThen + wholeCount, String(slices.scanned.length));
  // Nor does it count as one of those who look.
  assert.deepEqual(await Promise.all([scans.count(nobody), scans.count(nobody)]), [0, 0]);
});
