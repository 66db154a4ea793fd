import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lane, laneOf } from '../../src/queue/lane.ts';
import { Turns } from '../../src/queue/turns.ts';

function lane(tenantId: string, kind: 'transactional' | 'broadcast' = 'transactional'): Lane {
  return new Lane(laneOf({ mode: 'live', kind, tenantId }, 'a.example'), async () => []);
}

test('each lane has its turn, however much waits in the others', () => {
  const turns = new Turns();
  const [one, two, three] = [lane('ten_1'), lane('ten_2'), lane('ten_3')];
  for (const each of [one, two, three]) turns.add(each);
  const order = Array.from({ length: 6 }, () => turns.next());
  assert.deepEqual(order, [one, two, three, one, two, three]);
});

test('four transactional messages go before a broadcast one, and a broadcast alone goes at full speed', () => {
  const turns = new Turns();
  const letter = lane('ten_1', 'broadcast');
  turns.add(letter);
  assert.deepEqual([turns.next(), turns.next()], [letter, letter]);
  turns.add(lane('ten_1'));
  const kinds = Array.from({ length: 10 }, () => turns.next()?.name.kind);
  assert.equal(kinds.filter((kind) => kind === 'broadcast').length, 2);
});

test('a lane that is done has no more turns', () => {
  const turns = new Turns();
  const one = lane('ten_1');
  turns.add(one);
  turns.remove(one);
  assert.equal(turns.next(), undefined);
  assert.equal(turns.size, 0);
});
