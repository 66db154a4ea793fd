import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sortInSteps } from '../../src/system/sort-in-steps.ts';
import { finishSteps } from '../../src/system/steps.ts';
import { countSteps } from '../support/count-steps.ts';

type Item = { key: number; place: number };
const byKey = (one: Item, other: Item): number => one.key - other.key;

test('the order is that of the sort of JavaScript, and equal items stay in their order', () => {
  const keys = fc.array(fc.nat(40), { maxLength: 1_000, size: 'max' });
  fc.assert(
    fc.property(keys, (list) => {
      const items = list.map((key, place) => ({ key, place }));
      assert.deepEqual(finishSteps(sortInSteps(items, byKey)), items.toSorted(byKey));
    }),
    { numRuns: 50 },
  );
});

test('between two yields no more than some thousand items are compared', () => {
  let compared = 0;
  let most = 0;
  const items = Array.from({ length: 20_000 }, (_, place) => ({ key: (place * 7_919) % 20_000, place }));
  const sorting = sortInSteps(items, (one, other) => {
    compared++;
    return byKey(one, other);
  });
  for (let next = sorting.next(); !next.done; next = sorting.next()) {
    most = Math.max(most, compared);
    compared = 0;
  }
  assert.ok(most > 0 && most < 4_096, `${most}`);
});

test('a short list is sorted at once', () => {
  const { result, steps } = countSteps(sortInSteps([3, 1, 2], (one, other) => one - other));
  assert.deepEqual(result, [1, 2, 3]);
  assert.equal(steps, 0);
});
