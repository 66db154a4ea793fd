import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chain } from '../../../src/standby/chain/chain.ts';
import { Remote } from '../../../src/standby/follow/remote.ts';
import { baseCompleteObject, segmentObject } from '../../../src/standby/names.ts';
import { findResumable } from '../../../src/standby/ship/resumable.ts';
import type { Spool } from '../../../src/standby/ship/spool.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

const OLD = '20270101T000000Z-00000000';
const NEW = '20270108T000000Z-00000000';
const COMPLETE = {
  bytes: Buffer.from(JSON.stringify({ pieces: [], firstCut: { sequence: 1, takenAt: 1 } })),
};

type Waiting = { base?: boolean; first?: number; isOpen?: boolean };

/** Returns a store with the segments of generations, and what waits for it after the last cut. Both generations have the same number of segments. */
async function openWorld(
  stored: Record<string, number[]>,
  { last, waiting }: { last: number; waiting: Record<string, Waiting> },
) {
  const store = createMemoryStore();
  for (const [generation, segments] of Object.entries(stored)) {
    await store.put(baseCompleteObject('inst', generation), COMPLETE);
    for (const sequence of segments)
      await store.put(segmentObject('inst', generation, sequence), { bytes: Buffer.from('x') });
  }
  const ended: string[] = [];
  const spool = {
    isOpen: (generation: string) => waiting[generation]?.isOpen ?? generation in waiting,
    hasBase: (generation: string) => waiting[generation]?.base ?? false,
    firstSegment: (generation: string) => {
      const sequence = waiting[generation]?.first;
      return sequence === undefined ? undefined : { sequence };
    },
    end: async (generation: string) => void ended.push(generation),
  };
  const cuts = Object.keys(waiting).map((generation) => ({ generation, sequence: last, sha256: '' }));
  const chain = { isKnown: true, last: { number: 1, takenAt: 7, cuts } };
  const find = () =>
    findResumable(new Remote(store, 'inst'), {
      spool: spool as unknown as Spool,
      chain: chain as unknown as Chain,
    });
  return { chain, ended, find, store };
}

const goesOn = (generation: string, sequence: number) => ({ generation, sequence, takenAt: 7 });

test('a generation goes on when the store ends where the spool begins', async () => {
  const all = await openWorld({ [OLD]: [1, 2, 3] }, { last: 3, waiting: { [OLD]: {} } });
  assert.deepEqual(await all.find(), goesOn(OLD, 3));
  const some = await openWorld({ [OLD]: [1] }, { last: 3, waiting: { [OLD]: { first: 2 } } });
  assert.deepEqual(await some.find(), goesOn(OLD, 3));
  const none = await openWorld({}, { last: 3, waiting: { [OLD]: { base: true, first: 1 } } });
  assert.deepEqual(await none.find(), goesOn(OLD, 3));
  assert.deepEqual([all.ended, some.ended, none.ended], [[], [], []]);
});

test('a store that lacks something, or has more than was sent, gets a new base', async () => {
  for (const [stored, waiting] of [
    [{}, { [OLD]: {} }],
    [{ [OLD]: [1] }, { [OLD]: {} }],
    [{ [OLD]: [1] }, { [OLD]: { first: 3 } }],
    [{ [OLD]: [1, 2, 3, 4] }, { [OLD]: {} }],
    [{ [OLD]: [1, 2, 3] }, { [OLD]: { isOpen: false } }],
  ] as [Record<string, number[]>, Record<string, Waiting>][]) {
    const { ended, find } = await openWorld(stored, { last: 3, waiting });
    assert.equal(await find(), undefined);
    assert.deepEqual(ended, [OLD]);
  }
  const baseless = await openWorld({ [OLD]: [1, 2, 3] }, { last: 3, waiting: { [OLD]: {} } });
  await baseless.store.remove(baseCompleteObject('inst', OLD));
  assert.equal(await baseless.find(), undefined);
  const { chain, find } = await openWorld({ [OLD]: [1, 2, 3] }, { last: 3, waiting: { [OLD]: {} } });
  chain.isKnown = false;
  assert.equal(await find(), undefined);
});

test('the newest generation that has a base goes on, and the others end', async () => {
  const both = { [OLD]: {}, [NEW]: { base: true, first: 1 } };
  const newer = await openWorld({ [OLD]: [1, 2, 3] }, { last: 3, waiting: both });
  assert.deepEqual([await newer.find(), newer.ended], [goesOn(NEW, 3), [OLD]]);
  const unmade = { [OLD]: {}, [NEW]: { isOpen: false } };
  const older = await openWorld({ [OLD]: [1, 2, 3] }, { last: 3, waiting: unmade });
  assert.deepEqual([await older.find(), older.ended], [goesOn(OLD, 3), [NEW]]);
});
