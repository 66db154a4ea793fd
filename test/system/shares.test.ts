import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shares } from '../../src/system/shares.ts';

/** How many slots an owner gets when it asks for as many as it can have. */
function takeAll(shares: Shares<string>, owner: string): number {
  let count = 0;
  while (shares.take(owner)) count += 1;
  return count;
}

test('one owner has half of the slots, the next half of the rest, and so on', () => {
  const shares = new Shares(16);
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((owner) => takeAll(shares, owner)),
    [8, 4, 2, 1, 1],
  );
  assert.equal(takeAll(shares, 'f'), 0);
});

test('owners that ask in turn have equal shares, and as much is left', () => {
  const shares = new Shares(16);
  const held = new Map<string, number>();
  for (let round = 0; round < 16; round++)
    for (const owner of ['a', 'b', 'c']) if (shares.take(owner)) held.set(owner, (held.get(owner) ?? 0) + 1);
  assert.deepEqual([...held.values()], [4, 4, 4]);
  assert.equal(takeAll(shares, 'd'), 2);
});

test('a slot that was given back can be taken again', () => {
  const shares = new Shares(2);
  assert.deepEqual([shares.take('a'), shares.take('a'), shares.take('b')], [true, false, true]);
  shares.release('a');
  assert.deepEqual([shares.take('b'), shares.take('a')], [false, true]);
  shares.release('a');
  shares.release('b');
  assert.equal(takeAll(shares, 'c'), 1);
});
