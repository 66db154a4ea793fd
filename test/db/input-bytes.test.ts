import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputBytes } from '../../src/db/input-bytes.ts';

test('texts and buffers count where an input has them: in its fields, and in the items of a list', () => {
  assert.equal(inputBytes('four'), 4);
  assert.equal(inputBytes(new Uint8Array(7)), 7);
  assert.equal(inputBytes({ html: 'four', blob: { data: Buffer.alloc(100) }, createdAt: 5 }), 104);
  assert.equal(inputBytes({ items: [{ blob: { data: Buffer.alloc(3) } }, { blob: { data: null } }] }), 3);
});

test('a view counts what it shows, not the memory behind it', () => {
  assert.equal(inputBytes({ data: new Uint8Array(1_000).subarray(10, 30) }), 20);
});

test('values other than strings and buffers, and deeper values, count as 0', () => {
  for (const input of [undefined, null, 5, true, {}, [], new Map([['a', 'b']])]) {
    assert.equal(inputBytes(input), 0);
  }
  assert.equal(inputBytes({ a: { b: { c: { d: { e: 'deep' } } } } }), 0);
});

test('circular objects are handled', () => {
  const circle: { name: string; self?: unknown } = { name: 'ab' };
  circle.self = circle;
  assert.equal(inputBytes(circle), 8);
});
