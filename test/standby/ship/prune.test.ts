import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Remote } from '../../../src/standby/follow/remote.ts';
import {
  type BaseList,
  baseCompleteObject,
  isGeneration,
  newGeneration,
  segmentObject,
  startOfGeneration,
} from '../../../src/standby/names.ts';
import { pruneGenerations } from '../../../src/standby/ship/prune.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';

const NOW = Date.parse('2027-01-15T08:00:00Z');

test('the name of a generation says when it began', () => {
  const name = newGeneration(NOW);
  assert.ok(isGeneration(name));
  assert.equal(startOfGeneration(name), NOW);
  assert.ok(!isGeneration('owner'));
  const after = newGeneration(NOW - DAY_MS, name);
  assert.equal(startOfGeneration(after), NOW + 1_000, 'the clock was set back');
});

/** Lists the base of a generation, whose first cut was taken when the generation began. */
async function completeBase(store: MemoryStore, generation: string): Promise<void> {
  const list: BaseList = { pieces: [], firstCut: { sequence: 1, takenAt: startOfGeneration(generation) } };
  await store.put(baseCompleteObject('inst', generation), { bytes: Buffer.from(JSON.stringify(list)) });
}

test('a generation whose base never came replaces none, and is removed once a later one has its base', async () => {
  const store = createMemoryStore();
  const remote = new Remote(store, 'inst');
  const [first = '', second = '', third = ''] = [12, 8, 0].map((days) => newGeneration(NOW - days * DAY_MS));
  await completeBase(store, first);
  await store.put(segmentObject('inst', second, 1), { bytes: Buffer.from('x') });
  const options = { installation: 'inst', keepDays: 7, now: NOW };
  assert.equal(await pruneGenerations(store, options), 0);
  await completeBase(store, third);
  assert.equal(await pruneGenerations(store, options), 1);
  assert.deepEqual(await remote.listGenerations(), [first, third]);
});

test('a bucket that still lists what was removed does not keep the removal from ending', async () => {
  const store = createMemoryStore();
  for (const days of [20, 10]) await completeBase(store, newGeneration(NOW - days * DAY_MS));
  const stale = { ...store, remove: async () => {} };
  assert.equal(await pruneGenerations(stale, { installation: 'inst', keepDays: 7, now: NOW }), 1);
});

test('a generation is removed once the one after it is old enough, with all its objects and no others', async () => {
  const store = createMemoryStore();
  const remote = new Remote(store, 'inst');
  const generations = [20, 9, 6, 0].map((days) => newGeneration(NOW - days * DAY_MS));
  for (const generation of generations) await completeBase(store, generation);
  for (const generation of generations)
    for (let sequence = 1; sequence <= 150; sequence++)
      await store.put(segmentObject('inst', generation, sequence), { bytes: Buffer.from('x') });
  await store.put('inst/owner/0000000001', { bytes: Buffer.from('x') });
  await store.put(segmentObject('other', generations[0] as string, 1), { bytes: Buffer.from('x') });
  assert.deepEqual(await remote.listGenerations(), generations);
  const removed = await pruneGenerations(store, { installation: 'inst', keepDays: 7, now: NOW });
  // The second one is needed to go back to any time of the last seven days: it was replaced six days ago.
  assert.equal(removed, 1);
  assert.deepEqual(await remote.listGenerations(), generations.slice(1));
  assert.ok(store.objects.has('inst/owner/0000000001'));
  assert.ok(store.objects.has(segmentObject('other', generations[0] as string, 1)));
});
