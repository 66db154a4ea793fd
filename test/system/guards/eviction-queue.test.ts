import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Evictable, EvictionQueue } from '../../../src/system/guards/eviction-queue.ts';

function byAge(left: Evictable, right: Evictable): number {
  return left.since - right.since || left.serial - right.serial;
}

/** Returns the connection that ends first, by looking at all of them. */
function firstOf(items: readonly Evictable[]): Evictable | undefined {
  const networks = Map.groupBy(items, ({ network }) => network);
  const oldest = [...networks.values()].map((members) => ({
    size: members.length,
    item: members.toSorted(byAge)[0] as Evictable,
  }));
  return oldest.sort((left, right) => right.size - left.size || byAge(left.item, right.item))[0]?.item;
}

test('the network with the most connections loses the one that has waited longest', () => {
  const queue = new EvictionQueue<Evictable>();
  const lone = { network: 'a', since: 1, serial: 9 };
  const [older, newer] = [
    { network: 'b', since: 2, serial: 2 },
    { network: 'b', since: 2, serial: 3 },
  ] as const;
  for (const item of [newer, lone, older]) queue.add(item);
  assert.equal(queue.first, older);
  queue.delete(older);
  // Both networks have one connection now.
  assert.equal(queue.first, lone);
  queue.delete(lone);
  queue.delete(lone);
  assert.equal(queue.first, newer);
  queue.delete(newer);
  assert.equal(queue.first, undefined);
});

test('the choice is that of a search through all connections', () => {
  const step = fc.record({
    isAdded: fc.boolean(),
    at: fc.nat(99),
    network: fc.constantFrom('a', 'b', 'c', 'd'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const queue = new EvictionQueue<Evictable>();
      const items: Evictable[] = [];
      for (const [index, { isAdded, at, network }] of steps.entries()) {
        if (isAdded) {
          const item = { network, since: (index * 37) % 10, serial: index };
          items.push(item);
          queue.add(item);
        } else {
          const [item] = items.splice(at % Math.max(1, items.length), 1);
          if (item) queue.delete(item);
        }
        assert.equal(queue.first, firstOf(items));
      }
    }),
  );
});

test('a step among 20,000 connections looks at few of them, whether their networks are many or one', () => {
  for (const networks of [1, 1_000, 20_000]) {
    let looks = 0;
    const items = Array.from({ length: 20_000 }, (_, index) => ({
      network: `${index % networks}`,
      serial: index,
      get since() {
        looks++;
        return index;
      },
    }));
    const queue = new EvictionQueue<Evictable>();
    for (const item of items) queue.add(item);
    let most = 0;
    for (let step = 0; step < 2_000; step++) {
      looks = 0;
      const victim = queue.first;
      if (!victim) throw new Error('there is no connection');
      queue.delete(victim);
      queue.add(victim);
      most = Math.max(most, looks);
    }
    assert.ok(most < 400, `${networks} networks: ${most} looks`);
  }
});
