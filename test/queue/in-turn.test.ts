import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { InTurn } from '../../src/queue/in-turn.ts';

test('so many at a time, in their order, and those in a hurry before the others', async () => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const line = new InTurn<string>(2, (item) => {
    begun.push(item);
    return new Promise((resolve) => ends.set(item, resolve));
  });
  for (const item of ['a', 'b', 'c', 'd']) line.add(item);
  line.addFirst('urgent');
  assert.deepEqual(begun, ['a', 'b']);
  ends.get('a')?.();
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'urgent']);
  ends.get('b')?.();
  ends.get('urgent')?.();
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'urgent', 'c', 'd']);
});
