import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLru } from '../../src/system/lru.ts';

test('the entry that was not used for longest is dropped first', () => {
  const cache = createLru<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  assert.equal(cache.get('a'), 1);
  cache.set('c', 3);
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [1, undefined, 3]);
});

test('a cache takes memory for the entries that it has, not for those that it may have', () => {
  const before = process.memoryUsage().heapUsed;
  const cache = createLru<string, number>(10_000_000);
  cache.set('a', 1);
  const takenBytes = process.memoryUsage().heapUsed - before;
  assert.ok(takenBytes < 10_000_000, `${takenBytes} bytes`);
});
