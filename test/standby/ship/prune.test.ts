import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Remote } from '../../../src/standby/follow/remote.ts';
import { isGeneration, newGeneration, segmentObject, startOfGeneration } from '../../../src/standby/names.ts';
import { pruneGenerations } from '../../../src/standby/ship/prune.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

const NOW = Date.parse('2027-01-15T08:00:00Z');

test('the name of a generation says when it began', () => {
  const name = newGeneration(NOW);
  assert.ok(isGeneration(name));
  assert.equal(startOfGeneration(name), NOW);
  assert.ok(!isGeneration('owner'));
  const after = newGeneration(NOW - DAY_MS, name);
  assert.equal(startOfGeneration(after), NOW + 1_000, 'the clock was set back');
});

test('a generation is removed once the one after it is old enough, with all its objects and no others', async () => {
  const store = createMemoryStore();
  const remote = new Remote(store, 'inst');
  const generations = [20, 9, 6, 0].map((days) => newGeneration(NOW - days * DAY_MS));
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
