import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RoundRobin } from '../../src/system/round-robin.ts';

const everyone = () => true;

function filled(items: Record<string, readonly string[]>): RoundRobin<string> {
  const queue = new RoundRobin<string>();
  for (const [owner, names] of Object.entries(items)) for (const name of names) queue.add(owner, name);
  return queue;
}

function takeAll(queue: RoundRobin<string>, mayServe: (owner: string) => boolean = everyone): string[] {
  const taken: string[] = [];
  for (let item = queue.take(mayServe); item !== undefined; item = queue.take(mayServe)) taken.push(item);
  return taken;
}

test('owners are served round-robin, however many items one of them has, and the items of each in order', () => {
  const queue = filled({ a: ['a1', 'a2', 'a3'], b: ['b1'], c: ['c1', 'c2'] });
  assert.equal(queue.size, 6);
  assert.deepEqual(takeAll(queue), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  assert.deepEqual([queue.size, queue.has('a')], [0, false]);
});

test('an owner that may not be served is passed over and keeps its place', () => {
  const queue = filled({ a: ['a1'], b: ['b1', 'b2'] });
  assert.deepEqual(
    takeAll(queue, (owner) => owner !== 'a'),
    ['b1', 'b2'],
  );
  assert.deepEqual([[...queue.owners()], queue.count('a')], [['a'], 1]);
});

test('an item that is queued already keeps its position, and a removed one is not served', () => {
  const queue = filled({ a: ['a1', 'a2', 'a3', 'a1'] });
  queue.remove('a', 'a2');
  queue.remove('b', 'a1');
  assert.deepEqual([queue.size, takeAll(queue)], [2, ['a1', 'a3']]);
});

test('a turn has as many items as the weight of its owner, and one that comes back begins a new turn behind the others', () => {
  const queue = filled({ a: ['a1', 'a2'], b: ['b1'] });
  const take = (count: number) =>
    Array.from({ length: count }, () => queue.takeTurn(everyone, (owner) => (owner === 'a' ? 3 : 1)));
  assert.deepEqual(take(5), ['a1', 'a2', 'a1', 'b1', 'a2']);
  for (const item of ['a1', 'a2']) queue.remove('a', item);
  queue.add('a', 'a3');
  assert.deepEqual(take(5), ['b1', 'a3', 'a3', 'a3', 'b1']);
  assert.equal(queue.size, 2);
});
