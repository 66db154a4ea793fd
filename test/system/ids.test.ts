import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isId, newId } from '../../src/system/ids.ts';

/** 48 bits, until the year 10889. */
const LAST_MS = 2 ** 48 - 1;
const time = fc.integer({ min: 0, max: LAST_MS });

test('an id is its prefix, an underscore and 26 characters of base32', () => {
  fc.assert(
    fc.property(time, (ms) => {
      const id = newId('em', ms);
      assert.match(id, /^em_[0-9a-hjkmnp-tv-z]{26}$/);
      assert.ok(isId('em', id));
    }),
  );
});

test('ids sort by time as text', () => {
  fc.assert(
    fc.property(time, time, (one, other) => {
      fc.pre(one !== other);
      const [earlier, later] = one < other ? [one, other] : [other, one];
      assert.ok(newId('evt', earlier) < newId('evt', later));
    }),
  );
  assert.ok(newId('evt', LAST_MS - 1) < newId('evt', LAST_MS));
});

test('a hundred thousand ids of one moment are all different, in every character of their random part', () => {
  const ids = Array.from({ length: 100_000 }, () => newId('em', 1_900_000_000_000));
  assert.equal(new Set(ids).size, ids.length);
  const [first = ''] = ids;
  const timePart = first.slice(0, 'em_'.length + 10);
  assert.ok(ids.every((id) => id.startsWith(timePart)));
  for (let position = timePart.length; position < first.length; position++) {
    assert.equal(new Set(ids.map((id) => id[position])).size, 32, `position ${position}`);
  }
});

test('a text without exactly the shape of an id with this prefix is not one', () => {
  const id = newId('em', 1_900_000_000_000);
  for (const text of [
    '',
    'em_',
    id.slice(0, -1),
    `${id}0`,
    id.toUpperCase(),
    id.replace('em_', 'dom_'),
    id.replace('em_', 'em-'),
    `${id.slice(0, -1)}u`,
    `${id.slice(0, -1)}i`,
    `${id.slice(0, -1)}%`,
    ` ${id.slice(0, -1)}`,
    `${id.slice(0, -1)}\n`,
  ]) {
    assert.equal(isId('em', text), false, JSON.stringify(text));
  }
  assert.equal(isId('dom', id), false);
});
