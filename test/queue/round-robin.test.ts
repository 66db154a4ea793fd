import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryQueue, queueKeyOf } from '../../src/queue/delivery-queue.ts';
import { RoundRobin } from '../../src/queue/round-robin.ts';

const nobody = () => false;

function queue(
  tenantId: string,
  kind: 'transactional' | 'broadcast' = 'transactional',
  domain = 'a.example',
): DeliveryQueue {
  return new DeliveryQueue(queueKeyOf({ mode: 'live', kind, tenantId }, domain), async () => []);
}

test('each queue has its turn, however much waits in the others', () => {
  const turns = new RoundRobin();
  const [one, two, three] = [queue('ten_1'), queue('ten_2'), queue('ten_3')];
  for (const each of [one, two, three]) turns.add(each);
  const order = Array.from({ length: 6 }, () => turns.next(nobody));
  assert.deepEqual(order, [one, two, three, one, two, three]);
});

test('four transactional messages go before a broadcast one, and a broadcast alone goes at full speed', () => {
  const turns = new RoundRobin();
  const letter = queue('ten_1', 'broadcast');
  turns.add(letter);
  assert.deepEqual([turns.next(nobody), turns.next(nobody)], [letter, letter]);
  turns.add(queue('ten_1'));
  const kinds = Array.from({ length: 10 }, () => turns.next(nobody)?.name.kind);
  assert.equal(kinds.filter((kind) => kind === 'broadcast').length, 2);
});

test('a queue that is done has no more turns', () => {
  const turns = new RoundRobin();
  const one = queue('ten_1');
  turns.add(one);
  turns.remove(one);
  assert.equal(turns.next(nobody), undefined);
  assert.equal(turns.size, 0);
});

test('a tenant with mail for many domains of a site is served as often as one with mail for one of them', () => {
  const turns = new RoundRobin();
  for (const kind of ['transactional', 'broadcast'] as const) {
    for (let index = 0; index < 1_000; index++) turns.add(queue('ten_1', kind, `d${index}.example`));
    turns.add(queue('ten_2', kind));
  }
  const order = Array.from({ length: 20 }, () => turns.next(nobody)?.name);
  const broadcasts = order.filter((name) => name?.kind === 'broadcast');
  assert.equal(broadcasts.length, 4);
  assert.equal(broadcasts.filter((name) => name?.tenantId === 'ten_2').length, 2);
  assert.equal(order.filter((name) => name?.tenantId === 'ten_2').length, 10);
  assert.equal(new Set(order.filter((name) => name?.tenantId === 'ten_1')).size, 10, 'each queue in turn');
});

test('a tenant that is held back is skipped, and the others are served as before', () => {
  const turns = new RoundRobin();
  const [one, two] = [queue('ten_1'), queue('ten_2')];
  turns.add(one);
  turns.add(two);
  const isHeldBack = (tenantId: string) => tenantId === 'ten_1';
  assert.deepEqual([turns.next(isHeldBack), turns.next(isHeldBack)], [two, two]);
  assert.equal(turns.count(isHeldBack), 1);
  assert.equal(
    turns.next(() => true),
    undefined,
  );
});
