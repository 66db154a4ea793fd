import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ConcurrencyLimiter } from '../../src/system/concurrency-limiter.ts';

/** Runs works such as `a1`, which belongs to tenant `a`, each until the test ends it. */
function openLine(limits: { maxRunning: number; perFree?: number; maxWaiting?: number }) {
  const limiter = new ConcurrencyLimiter(limits);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  const placeOf = (name: string) => ({ owner: name.slice(0, 1) });
  const add = (name: string, isFirst = false) => limiter.run(work(name), { ...placeOf(name), isFirst });
  const tryToAdd = (name: string) => limiter.tryRun(work(name), placeOf(name));
  const end = async (name: string) => {
    ends.get(name)?.();
    await turn();
  };
  return { begun, add, tryToAdd, end };
}

test('works run a few at a time, in their order, and those that are first before the others', async () => {
  const { begun, add, end } = openLine({ maxRunning: 3, perFree: 3 });
  for (const name of ['a1', 'a2', 'a3', 'a4']) void add(name);
  void add('a0', true);
  assert.deepEqual(begun, ['a1', 'a2']);
  await end('a1');
  assert.deepEqual(begun, ['a1', 'a2', 'a0']);
  await end('a2');
  await end('a0');
  assert.deepEqual(begun, ['a1', 'a2', 'a0', 'a3', 'a4']);
});

test('a tenant with thousands of works that do not end leaves slots for the next tenant', () => {
  const { begun, add } = openLine({ maxRunning: 64, perFree: 3 });
  for (let index = 0; index < 30_000; index++) void add(`a${index}`);
  assert.equal(begun.length, 48);
  void add('b1');
  assert.equal(begun.at(-1), 'b1');
});

test('tenants are served round-robin, however many works one of them has', async () => {
  const { begun, add, end } = openLine({ maxRunning: 2, perFree: 3 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) void add(name);
  assert.deepEqual(begun, ['a1', 'b1']);
  await end('b1');
  await end('c1');
  await end('a1');
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2']);
});

test('where owners are not told apart, one may use the whole limit', async () => {
  const { begun, add, end } = openLine({ maxRunning: 2 });
  for (const name of ['a1', 'a2', 'a3', 'a4']) void add(name);
  assert.deepEqual(begun, ['a1', 'a2']);
  await end('a2');
  assert.deepEqual(begun, ['a1', 'a2', 'a3']);
});

test('a work is refused when too many wait, and one that need not wait is not', async () => {
  const { begun, tryToAdd, end } = openLine({ maxRunning: 2, perFree: 1, maxWaiting: 1 });
  assert.ok(tryToAdd('a1') && tryToAdd('a2'));
  assert.equal(tryToAdd('a3'), undefined);
  assert.ok(tryToAdd('b1'));
  assert.equal(tryToAdd('c1'), undefined);
  await end('a1');
  assert.deepEqual(begun, ['a1', 'b1', 'a2']);
  assert.ok(tryToAdd('c1'));
});

test('the result and the error of a work are those of its run, and both give the slot back', async () => {
  const limiter = new ConcurrencyLimiter({ maxRunning: 1 });
  const failing = limiter.run(() => Promise.reject(new Error('broken')));
  const working = limiter.run(async () => 7);
  await assert.rejects(failing, /broken/);
  assert.equal(await working, 7);
});
