import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Forest, ForestNode } from '../../../src/mail/imap/link-cut-tree.ts';

const NODES = 24;

test('the roots are those of a forest that is searched node by node', () => {
  const place = fc.nat(NODES - 1);
  fc.assert(
    fc.property(fc.array(fc.tuple(place, place), { maxLength: 200 }), (operations) => {
      const forest = new Forest();
      const nodes = Array.from({ length: NODES }, () => new ForestNode());
      const parents = new Map<number, number>();
      const rootOf = (node: number): number => {
        const parent = parents.get(node);
        return parent === undefined ? node : rootOf(parent);
      };
      for (const [parent, child] of operations) {
        const [above, below] = [nodes[parent] as ForestNode, nodes[child] as ForestNode];
        if (parents.has(child)) {
          forest.cut(below);
          parents.delete(child);
        } else if (rootOf(parent) !== child) {
          forest.link(above, below);
          parents.set(child, parent);
        }
        for (const [one, node] of nodes.entries()) assert.equal(forest.rootOf(node), nodes[rootOf(one)]);
      }
    }),
    { numRuns: 50 },
  );
});

test('searches in a tree that is one long path visit few nodes on average', () => {
  const forest = new Forest();
  const nodes = Array.from({ length: 4_096 }, () => new ForestNode());
  for (const [index, node] of nodes.entries())
    if (index > 0) forest.link(nodes[index - 1] as ForestNode, node);
  const before = forest.visited;
  for (let index = 0; index < 4_096; index++)
    assert.equal(forest.rootOf(nodes[(index * 1_237) % 4_096] as ForestNode), nodes[0]);
  const average = (forest.visited - before) / 4_096;
  assert.ok(average < 40, `${average}`);
});
