import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Limit } from '../../src/tasks/kind.ts';
import { Order, type Slot } from '../../src/tasks/order.ts';

const NOW = 1_000;

function openOrder(total = 256, perFree = 1) {
  const order = new Order(total, perFree);
  return {
    order,
    /** Adds queues that are due, each named `<tenant>/<name>`. */
    add(names: readonly string[], limits: readonly Limit[] = [], dueAt: number | undefined = NOW) {
      for (const queue of names) {
        const tenantId = `ten_${queue.split('/')[0]}` as const;
        order.set({ queueKey: queue, tenantId, dueAt, limits }, NOW);
      }
    },
    take(count: number, now = NOW): Slot[] {
      return Array.from({ length: count }, () => order.take(now)).filter((slot) => slot !== undefined);
    },
  };
}

const names = (slots: readonly Slot[]) => slots.map(({ queueKey }) => queueKey);

test('slots go to the tenants that hold the fewest, then to their queues that hold the fewest', () => {
  const { add, take } = openOrder();
  add(['a/1', 'a/2', 'b/1']);
  assert.deepEqual(names(take(6)), ['a/1', 'b/1', 'a/2', 'b/1', 'a/1', 'b/1']);
});

test('no tenant takes the last slots, and one with ten thousand queues leaves another its own', () => {
  const { add, take } = openOrder(8);
  add(Array.from({ length: 10_000 }, (_, index) => `a/${index}`));
  assert.equal(take(8).length, 4);
  add(['b/1']);
  assert.deepEqual(names(take(1)), ['b/1']);
});

test('a queue that has reached a limit waits without delaying others, until a run ends', () => {
  const { order, add, take } = openOrder();
  const host = { key: 'host', max: 2 };
  add(['a/1', 'b/1', 'c/1'], [host]);
  add(['d/1']);
  const slots = take(8);
  assert.deepEqual(names(slots), ['a/1', 'b/1', 'd/1', 'd/1', 'd/1', 'd/1', 'd/1', 'd/1']);
  const [first] = slots;
  assert.ok(first);
  order.end(first);
  assert.deepEqual(names(take(1)), ['c/1']);
});

test('a free place of a limit is passed on by a queue that has another reason to wait', () => {
  const { order, add, take } = openOrder();
  const host = { key: 'host', max: 1 };
  add(['a/1'], [host, { key: 'own', max: 1 }]);
  add(['a/2'], [host, { key: 'own', max: 1 }]);
  add(['b/1'], [host]);
  add(['x/1'], [{ key: 'own', max: 1 }]);
  const [a] = take(1);
  assert.equal(a?.queueKey, 'a/1');
  assert.deepEqual(names(take(2)), []);
  order.end(a);
  // `own` goes to x/1 or to a queue of the host; whichever it is, the host is used too.
  assert.equal(take(3).length, 2);
});

test('a queue that no longer waits for the free place of a limit passes it on', () => {
  const host = { key: 'host', max: 1 };
  for (const [limits, dueAt] of [
    [[host], NOW + 60_000],
    [[], undefined],
    [[{ key: 'other host', max: 0 }], NOW],
    [[{ key: 'host', max: 0 }], NOW],
  ] as const) {
    const { order, add, take } = openOrder();
    add(['a/1'], [host]);
    const [first] = take(2);
    add(['b/1'], [host]);
    assert.ok(first);
    assert.deepEqual(take(1), []);
    order.end(first);
    order.set({ queueKey: 'a/1', tenantId: 'ten_a', dueAt, limits }, NOW);
    assert.deepEqual(names(take(1)), ['b/1']);
  }
});

test('a queue falls due at its time, and not before', () => {
  const { order, add, take } = openOrder();
  add(['a/1'], [], NOW + 5);
  add(['b/1'], [], NOW + 9);
  assert.deepEqual([names(take(1)), order.nextDueAt], [[], NOW + 5]);
  assert.deepEqual(names(take(1, NOW + 5)), ['a/1']);
  assert.equal(order.nextDueAt, NOW + 9);
});

test('a queue without waiting tasks gets no slot, and is forgotten when its last run has ended', () => {
  const { order, add, take } = openOrder();
  add(['a/1']);
  const [slot] = take(1);
  assert.ok(slot);
  order.set({ queueKey: 'a/1', tenantId: 'ten_a', dueAt: undefined, limits: [] }, NOW);
  assert.deepEqual([names(take(1)), order.has('a/1'), order.countOf('ten_a')], [[], true, 1]);
  order.end(slot);
  assert.deepEqual([order.has('a/1'), order.countOf('ten_a')], [false, 0]);
});

test('whatever happens, limits hold, and no slot stays unused while a queue may take it', () => {
  const queue = fc.record({
    tenant: fc.nat(2),
    name: fc.nat(3),
    key: fc.nat(1),
    max: fc.integer({ min: 1, max: 3 }),
  });
  const step = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), queue, dueAt: fc.constantFrom(NOW, NOW + 1, undefined) }),
    fc.record({ kind: fc.constant('take' as const) }),
    fc.record({ kind: fc.constant('end' as const), index: fc.nat(5) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      // Tenants do not share here: the limits alone decide.
      const order = new Order(100, Number.POSITIVE_INFINITY);
      const known = new Map<string, { isDue: boolean; limits: Limit[] }>();
      const running: Slot[] = [];
      const countOf = (key: string) => running.filter(({ keys }) => keys.includes(key)).length;
      for (const one of steps) {
        if (one.kind === 'set') {
          const name = `${one.queue.tenant}/${one.queue.name}`;
          const limits = [
            { key: name, max: one.queue.max },
            { key: `host ${one.queue.key}`, max: 1 },
          ];
          const { dueAt } = one;
          known.set(name, { isDue: dueAt === NOW, limits });
          order.set({ queueKey: name, tenantId: `ten_${one.queue.tenant}`, dueAt, limits }, NOW);
        } else if (one.kind === 'end') {
          for (const slot of running.splice(one.index, 1)) order.end(slot);
        } else {
          const free = [...known].filter(
            ([, { isDue, limits }]) => isDue && limits.every(({ key, max }) => countOf(key) < max),
          );
          const slot = order.take(NOW);
          assert.equal(slot !== undefined, free.length > 0);
          if (slot) assert.ok(free.some(([name]) => name === slot.queueKey));
          if (slot) running.push(slot);
        }
      }
    }),
  );
});
