import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WritePriority } from '../../src/db/operation.ts';
import { GROUP_BYTES, GROUP_SIZE, WaitingWrites } from '../../src/db/waiting-writes.ts';

type Write = { operation: string; id: number; sizeBytes: number };

/** Writes that wait, in this order; the operation of each is the name of its priority. */
function waiting(...operations: readonly string[]) {
  const writes = new WaitingWrites<Write>((operation) => operation as WritePriority);
  const all = operations.map((operation, id) => ({ operation, id, sizeBytes: 1 }));
  for (const write of all) writes.add(write);
  const ids = () => writes.nextGroup().map(({ id }) => id);
  return { writes, all, ids };
}

function ofSizes(...sizes: readonly number[]) {
  const writes = new WaitingWrites<Write>(() => 'ordinary');
  for (const [id, sizeBytes] of sizes.entries()) writes.add({ operation: 'x', id, sizeBytes });
  return writes.nextGroup().length;
}

test('a group takes as many writes as it may, in their order', () => {
  assert.equal(ofSizes(...Array<number>(GROUP_SIZE + 10).fill(1)), GROUP_SIZE);
  assert.deepEqual(waiting('ordinary', 'ordinary', 'ordinary').ids(), [0, 1, 2]);
  assert.deepEqual(waiting().ids(), []);
});

test('a group takes as many bytes as it may, and a larger write is one of its own', () => {
  const half = GROUP_BYTES / 2;
  assert.equal(ofSizes(half, half, 0), 3);
  assert.equal(ofSizes(half, half, 1), 2);
  assert.equal(ofSizes(half, half + 1, 1), 1);
  assert.equal(ofSizes(GROUP_BYTES + 1, 1), 1);
});

test('urgent writes have the first group, then ordinary ones run with one bulk write at the end', () => {
  const { writes, all, ids } = waiting('bulk', 'ordinary', 'bulk', 'urgent', 'ordinary', 'urgent');
  assert.deepEqual(ids(), [3, 5]);
  writes.remove(all.filter(({ operation }) => operation === 'urgent'));
  assert.deepEqual(ids(), [1, 4, 0]);
});

test('urgent writes that arrive all the time leave every second group to the others', () => {
  const { writes, all, ids } = waiting('ordinary', 'urgent');
  writes.remove(all.filter(({ operation }) => operation === 'urgent'));
  writes.add({ operation: 'urgent', id: 2, sizeBytes: 1 });
  assert.deepEqual(ids(), [2, 0]);
});

test('bulk writes share a group when no other write waits', () => {
  assert.deepEqual(waiting('bulk', 'bulk', 'bulk').ids(), [0, 1, 2]);
});

test('a bulk write that a group had no time for runs before the ordinary writes of the next group', () => {
  const { writes, all, ids } = waiting('ordinary', 'ordinary', 'bulk');
  writes.remove(all.filter(({ id }) => id === 0));
  assert.deepEqual(ids(), [2, 1]);
  assert.equal(writes.size, 2);
  writes.remove(all.filter(({ id }) => id === 2));
  writes.add({ operation: 'bulk', id: 3, sizeBytes: 1 });
  assert.deepEqual(ids(), [1, 3]);
});
