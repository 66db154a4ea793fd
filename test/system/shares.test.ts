import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Shares } from '../../src/system/shares.ts';

/** Returns how many slots an owner gets when it takes as many as it can. */
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

test('owners that take slots in turn have equal shares, and one share stays free', () => {
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

test('an owner that may hold several slots for each free one gets more, and still leaves some', () => {
  const shares = new Shares(375, { perFree: 3 });
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((owner) => takeAll(shares, owner)),
    [281, 70, 18, 4, 1, 1, 0],
  );
});

test('owners that give back what is over their share end up with equal shares', () => {
  const shares = new Shares(100, { perFree: 3 });
  let first = takeAll(shares, 'a');
  let second = 0;
  for (let rounds = 0; rounds < 200; rounds++) {
    if (shares.isOver('a')) {
      shares.release('a');
      first -= 1;
    }
    if (shares.take('b')) second += 1;
  }
  assert.ok(Math.abs(first - second) <= 4, `${first} and ${second}`);
});

test('a slot that may be taken is not over the share, and nobody has to give up its only one', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean()), { maxLength: 200 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 8 }),
      steps,
      (total, perFree, all) => {
        const shares = new Shares(total, { perFree });
        const held = { a: 0, b: 0, c: 0 };
        for (const [owner, takes] of all) {
          if (takes && shares.take(owner)) {
            held[owner] += 1;
            assert.equal(shares.isOver(owner), false);
          } else if (!takes && held[owner] > 0) {
            shares.release(owner);
            held[owner] -= 1;
          }
          assert.ok(shares.free >= 0);
          if (held[owner] === 1) assert.equal(shares.isOver(owner), false);
        }
      },
    ),
  );
});
