import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createPause,
  createSlices,
  finishInSlices,
  nextSlice,
  runForOwner,
} from '../../src/system/slices.ts';

/** Runs jobs of this number of slices, each for its owner. Returns the owners of the slices behind the first ones, in their order. */
async function runJobs(owners: readonly string[], slices: number): Promise<string[]> {
  const order: string[] = [];
  const job = async (owner: string): Promise<void> => {
    for (let slice = 0; slice < slices; slice++) {
      await nextSlice();
      order.push(owner);
    }
  };
  await Promise.all(owners.map((owner) => runForOwner(owner, () => job(owner))));
  return order;
}

test('owners alternate between slices, however many jobs each of them has', async () => {
  const order = await runJobs([...Array.from({ length: 20 }, () => 'busy'), 'other', 'third'], 10);
  const expected = Array.from({ length: 10 }, () => ['busy', 'other', 'third']).flat();
  assert.deepEqual(order.slice(0, 30), expected);
  assert.equal(order.length, 22 * 10);
});

test('only one slice of an owner runs in a turn of the event loop, so that what arrives is handled in between', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const order = await runJobs(
    Array.from({ length: 20 }, () => 'busy'),
    10,
  );
  isOver = true;
  assert.ok(turns >= order.length - 1, `${turns}`);
});

test('a job pauses for its owner once its slice is over, also in what it calls and after what it waits for', async () => {
  let elapsedMs = 0;
  const clock = { elapsed: () => elapsedMs };
  const order: string[] = [];
  const job = async (owner: string): Promise<void> => {
    const pause = createPause(clock);
    for (let slice = 0; slice < 3; slice++) {
      await Promise.resolve();
      elapsedMs++;
      await pause();
      order.push(owner);
    }
  };
  const owners = ['a', 'a', 'a', 'b'];
  await Promise.all(owners.map((owner) => runForOwner(owner, () => job(owner))));
  assert.ok(order.indexOf('b') <= 1, order.join());
});

test('other work runs after each step of a calculation', async () => {
  const order: string[] = [];
  function* calculate() {
    for (const step of ['one', 'two']) {
      order.push(step);
      setImmediate(() => order.push('other work'));
      yield;
    }
    return order.length;
  }
  assert.equal(await finishInSlices(calculate()), 4);
  assert.deepEqual(order, ['one', 'other work', 'two', 'other work']);
});

test('so many callers begin in each turn of the event loop, in their order', async () => {
  const turn = createSlices(2);
  const begun: number[] = [];
  const all = [0, 1, 2, 3, 4].map((number) => turn('one').then(() => begun.push(number)));
  await Promise.all(all.slice(0, 2));
  assert.deepEqual(begun, [0, 1]);
  await nextSlice();
  assert.deepEqual(begun, [0, 1, 2, 3]);
  // A caller that comes later waits behind those that wait.
  const late = turn('one').then(() => begun.push(5));
  await Promise.all([...all, late]);
  assert.deepEqual(begun, [0, 1, 2, 3, 4, 5]);
});

test('a caller alone never waits', async () => {
  const turn = createSlices(1);
  for (let round = 0; round < 3; round++) {
    let hasBegun = false;
    void turn('one').then(() => {
      hasBegun = true;
    });
    await Promise.resolve();
    assert.equal(hasBegun, true);
    await nextSlice();
    await nextSlice();
  }
});

test('owners that wait are served in turn', async () => {
  const turn = createSlices(1);
  const begun: string[] = [];
  const call = (owner: string) => turn(owner).then(() => begun.push(owner));
  await Promise.all(['many', 'many', 'many', 'many', 'few', 'one'].map(call));
  assert.deepEqual(begun, ['many', 'many', 'few', 'one', 'many', 'many']);
});
