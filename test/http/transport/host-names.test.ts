import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { limitPerTurn, MAX_BEGUN_PER_TURN } from '../../../src/http/transport/host-names.ts';
import { nextTurn } from '../../../src/system/next-turn.ts';

function openLimit() {
  const begun: number[] = [];
  const handle = limitPerTurn((request) => void begun.push(Number(request.url)));
  const ask = (from: number, count: number) => {
    for (let id = from; id < from + count; id++)
      handle({ url: String(id) } as IncomingMessage, {} as ServerResponse);
  };
  return { begun, ask };
}

test('requests beyond the limit of a turn begin in the next ones, in order', async () => {
  const { begun, ask } = openLimit();
  ask(0, 3 * MAX_BEGUN_PER_TURN);
  assert.equal(begun.length, MAX_BEGUN_PER_TURN);
  await nextTurn();
  assert.equal(begun.length, 2 * MAX_BEGUN_PER_TURN);
  ask(3 * MAX_BEGUN_PER_TURN, 1);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(
    begun,
    Array.from({ length: 3 * MAX_BEGUN_PER_TURN + 1 }, (_, id) => id),
  );
});

test('a turn without requests gives the next ones the whole limit', async () => {
  const { begun, ask } = openLimit();
  ask(0, 1);
  await nextTurn();
  await nextTurn();
  ask(1, MAX_BEGUN_PER_TURN);
  assert.equal(begun.length, MAX_BEGUN_PER_TURN + 1);
});
