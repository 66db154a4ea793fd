import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IndexedHeap } from '../../src/system/indexed-heap.ts';

type Item = { rank: number };

const step = fc.record({
  kind: fc.constantFrom('add', 'add', 'delete', 'change'),
  at: fc.nat(50),
  rank: fc.nat(20),
});

test('the first item is always the smallest, whatever is added, removed and changed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const heap = new IndexedHeap<Item>((left, right) => left.rank < right.rank);
      const items: Item[] = [];
      for (const { kind, at, rank } of steps) {
        const item = items[at % Math.max(1, items.length)];
        if (kind === 'add' || !item) {
          const added = { rank };
          items.push(added);
          heap.add(added);
        } else if (kind === 'delete') {
          assert.equal(heap.delete(item), true);
          items.splice(items.indexOf(item), 1);
          assert.equal(heap.delete(item), false);
        } else {
          item.rank = rank;
          heap.update(item);
        }
        assert.equal(heap.size, items.length);
        assert.equal(
          heap.first?.rank,
          items.length > 0 ? Math.min(...items.map((one) => one.rank)) : undefined,
        );
      }
    }),
  );
});
