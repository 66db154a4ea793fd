import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueKeyOf } from '../../../src/queue/queue-key.ts';
import { QueueOrder } from '../../../src/queue/site/claimer.ts';
import { DeliveryQueue } from '../../../src/queue/site/delivery-queue.ts';

const nobody = () => false;

function queue(
  tenantId: string,
  kind: 'transactional' | 'broadcast' = 'transactional',
  domain = 'a.example',
): DeliveryQueue {
  return new DeliveryQueue(queueKeyOf({ mode: 'live', kind, tenantId }, domain), async () => []);
}

test('queues are served round-robin, however much mail waits in one of them', () => {
  const order = new QueueOrder();
  const [one, two, three] = [queue('ten_1'), queue('ten_2'), queue('ten_3')];
  for (const each of [one, two, three]) order.add(each);
  const served = Array.from({ length: 6 }, () => order.next(nobody));
  assert.deepEqual(served, [one, two, three, one, two, three]);
});

test('four transactional messages go before a broadcast one, and a broadcast alone goes at full speed', () => {
  const order = new QueueOrder();
  const letter = queue('ten_1', 'broadcast');
  order.add(letter);
  assert.deepEqual([order.next(nobody), order.next(nobody)], [letter, letter]);
  order.add(queue('ten_1'));
  const kinds = Array.from({ length: 10 }, () => order.next(nobody)?.name.kind);
  assert.equal(kinds.filter((kind) => kind === 'broadcast').length, 2);
});

test('a queue that is done is not served again', () => {
  const order = new QueueOrder();
  const one = queue('ten_1');
  order.add(one);
  order.remove(one);
  assert.equal(order.next(nobody), undefined);
  assert.equal(order.size, 0);
});

test('a tenant with mail for many domains of a site is served as often as one with mail for one of them', () => {
  const order = new QueueOrder();
  for (const kind of ['transactional', 'broadcast'] as const) {
    for (let index = 0; index < 1_000; index++) order.add(queue('ten_1', kind, `d${index}.example`));
    order.add(queue('ten_2', kind));
  }
  const served = Array.from({ length: 20 }, () => order.next(nobody)?.name);
  const broadcasts = served.filter((name) => name?.kind === 'broadcast');
  assert.equal(broadcasts.length, 4);
  assert.equal(broadcasts.filter((name) => name?.tenantId === 'ten_2').length, 2);
  assert.equal(served.filter((name) => name?.tenantId === 'ten_2').length, 10);
  assert.equal(new Set(served.filter((name) => name?.tenantId === 'ten_1')).size, 10, 'each queue in turn');
});

test('a tenant that is held back is skipped, and the others are served as before', () => {
  const order = new QueueOrder();
  const [one, two] = [queue('ten_1'), queue('ten_2')];
  order.add(one);
  order.add(two);
  const isHeldBack = (tenantId: string) => tenantId === 'ten_1';
  assert.deepEqual([order.next(isHeldBack), order.next(isHeldBack)], [two, two]);
  assert.equal(order.count(isHeldBack), 1);
  assert.equal(
    order.next(() => true),
    undefined,
  );
});
