import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedCache } from '../../src/system/shared-cache.ts';

/** Size that counts for an entry besides its value. */
const ENTRY_BYTES = 200;
const ENTRY = { value: 'v', bytes: 100 };
const ENTRIES = 6;

/** Opens a cache for six entries. */
function open(): SharedCache<string> {
  return new SharedCache(ENTRIES * (ENTRY.bytes + ENTRY_BYTES));
}

function fill(cache: SharedCache<string>, owner: string, keys: readonly string[]): void {
  for (const key of keys) cache.set(owner, key, ENTRY);
}

function keptOf(cache: SharedCache<string>, owner: string): string {
  return [...'abcdefgh'].filter((key) => cache.get(owner, key) !== undefined).join('');
}

test('values are found by their owner alone, and a new value replaces the old one', () => {
  const cache = open();
  cache.set('x', 'a', { value: 'one', bytes: 10 });
  cache.set('x', 'a', { value: 'two', bytes: 10 });
  assert.deepEqual(
    [cache.get('x', 'a'), cache.get('y', 'a'), cache.get('x', 'b')],
    ['two', undefined, undefined],
  );
});

test('one owner alone may fill the cache, and loses what it has not used for the longest time', () => {
  const cache = open();
  fill(cache, 'x', [...'abcdef']);
  assert.equal(cache.get('x', 'a'), 'v');
  fill(cache, 'x', ['g']);
  assert.equal(keptOf(cache, 'x'), 'acdefg');
});

test('an owner with many entries never pushes out those of an owner with few', () => {
  const cache = open();
  fill(cache, 'few', [...'ab']);
  for (let round = 0; round < 10; round++) fill(cache, 'many', [...'abcdefgh']);
  assert.equal(keptOf(cache, 'few'), 'ab');
  assert.equal(keptOf(cache, 'many').length, 4);
});

test('an owner that comes later takes its share from the one that holds most', () => {
  const cache = open();
  fill(cache, 'few', ['a']);
  fill(cache, 'many', [...'abcde']);
  fill(cache, 'new', [...'ab']);
  assert.deepEqual([keptOf(cache, 'few'), keptOf(cache, 'many'), keptOf(cache, 'new')], ['a', 'cde', 'ab']);
});

test('a value above the share of its owner is not kept, and costs the others nothing', () => {
  const cache = open();
  fill(cache, 'few', [...'ab']);
  cache.set('large', 'a', { value: 'v', bytes: 100_000 });
  assert.deepEqual([keptOf(cache, 'few'), keptOf(cache, 'large')], ['ab', '']);
  fill(cache, 'few', [...'cdef']);
  assert.equal(keptOf(cache, 'few'), 'abcdef');
});
