import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTurn } from '../../src/system/next-turn.ts';
import { createTurns } from '../../src/system/turns.ts';

test('so many callers begin in each turn of the event loop, in their order', async () => {
  const turn = createTurns(2);
  const begun: number[] = [];
  const all = [0, 1, 2, 3, 4].map((number) => turn('one').then(() => begun.push(number)));
  await Promise.all(all.slice(0, 2));
  assert.deepEqual(begun, [0, 1]);
  await nextTurn();
  assert.deepEqual(begun, [0, 1, 2, 3]);
  // A caller that comes later waits behind those that wait.
  const late = turn('one').then(() => begun.push(5));
  await Promise.all([...all, late]);
  assert.deepEqual(begun, [0, 1, 2, 3, 4, 5]);
});

test('a caller alone never waits', async () => {
  const turn = createTurns(1);
  for (let round = 0; round < 3; round++) {
    let hasBegun = false;
    void turn('one').then(() => {
      hasBegun = true;
    });
    await Promise.resolve();
    assert.equal(hasBegun, true);
    await nextTurn();
    await nextTurn();
  }
});

test('owners that wait are served in turn', async () => {
  const turn = createTurns(1);
  const begun: string[] = [];
  const call = (owner: string) => turn(owner).then(() => begun.push(owner));
  await Promise.all(['many', 'many', 'many', 'many', 'few', 'one'].map(call));
  assert.deepEqual(begun, ['many', 'many', 'few', 'one', 'many', 'many']);
});
