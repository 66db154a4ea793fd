import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ConcurrencyLimiter } from '../../src/queue/concurrency-limiter.ts';
import { Shares } from '../../src/system/shares.ts';

/** Runs items such as `a1`, which belongs to tenant `a`, each until the test ends it. */
function openLine(limits: { capacity: number; perFree: number }) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const line = new ConcurrencyLimiter<string>({
    shares: new Shares(limits.capacity, limits),
    tenantOf: (item) => item.slice(0, 1),
    run: (item) => {
      begun.push(item);
      return new Promise<void>((resolve) => ends.set(item, resolve));
    },
  });
  const end = async (item: string) => {
    ends.get(item)?.();
    await turn();
  };
  return { line, begun, end };
}

test('items run a few at a time, in their order, and those added first before the others', async () => {
  const { line, begun, end } = openLine({ capacity: 3, perFree: 3 });
  for (const item of ['a1', 'a2', 'a3', 'a4']) line.add(item);
  line.addFirst('a0');
  assert.deepEqual(begun, ['a1', 'a2']);
  await end('a1');
  assert.deepEqual(begun, ['a1', 'a2', 'a0']);
  await end('a2');
  await end('a0');
  assert.deepEqual(begun, ['a1', 'a2', 'a0', 'a3', 'a4']);
});

test('a tenant with thousands of items that do not end leaves slots for the next tenant', () => {
  const { line, begun } = openLine({ capacity: 64, perFree: 3 });
  for (let index = 0; index < 30_000; index++) line.add(`a${index}`);
  assert.equal(begun.length, 48);
  line.add('b1');
  assert.equal(begun.at(-1), 'b1');
});

test('tenants are served round-robin, however many items one of them has', async () => {
  const { line, begun, end } = openLine({ capacity: 2, perFree: 3 });
  for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) line.add(item);
  assert.deepEqual(begun, ['a1', 'b1']);
  await end('b1');
  await end('c1');
  await end('a1');
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2']);
});
