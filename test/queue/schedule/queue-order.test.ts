import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Band } from '../../../src/queue/schedule/events.ts';
import { QueueOrder } from '../../../src/queue/schedule/queue-order.ts';

const everybody = () => true;

function queue(tenantId: string, band: Band = 'transactional', key = `${band} ${tenantId}`) {
  return { name: { key, tenantId, band } };
}

type Queue = ReturnType<typeof queue>;

test('queues are served in turn, however much mail waits in one of them', () => {
  const order = new QueueOrder<Queue>();
  const queues = [queue('ten_1'), queue('ten_2'), queue('ten_3')];
  for (const each of queues) order.add(each);
  const served = Array.from({ length: 6 }, () => order.next(everybody));
  assert.deepEqual(served, [...queues, ...queues]);
});

test('of eleven messages one is a report, eight are transactional and two are broadcasts; each alone goes at full speed', () => {
  const order = new QueueOrder<Queue>();
  const letter = queue('ten_1', 'broadcast');
  order.add(letter);
  assert.deepEqual(
    Array.from({ length: 11 }, () => order.next(everybody)),
    Array(11).fill(letter),
  );
  order.add(queue('ten_1'));
  order.add(queue('ten_0', 'report'));
  const bands = Array.from({ length: 22 }, () => order.next(everybody)?.name.band);
  assert.deepEqual(
    ['report', 'transactional', 'broadcast'].map((band) => bands.filter((served) => served === band).length),
    [2, 16, 4],
  );
});

test('a queue that is done is not served again', () => {
  const order = new QueueOrder<Queue>();
  const one = queue('ten_1');
  order.add(one);
  order.remove(one);
  assert.equal(order.next(everybody), undefined);
  assert.equal(order.size, 0);
});

test('a tenant with mail for many domains of a site is served as often as one with mail for one of them', () => {
  const order = new QueueOrder<Queue>();
  for (let index = 0; index < 1_000; index++) order.add(queue('ten_1', 'transactional', `d${index}.example`));
  order.add(queue('ten_2'));
  const served = Array.from({ length: 20 }, () => order.next(everybody)?.name);
  assert.equal(served.filter((name) => name?.tenantId === 'ten_2').length, 10);
  assert.equal(new Set(served.filter((name) => name?.tenantId === 'ten_1')).size, 10, 'each queue in turn');
});

test('a tenant that may not be served is passed over, and the others are served as before', () => {
  const order = new QueueOrder<Queue>();
  const [one, two] = [queue('ten_1'), queue('ten_2')];
  order.add(one);
  order.add(two);
  const mayServe = (tenantId: string) => tenantId !== 'ten_1';
  assert.deepEqual([order.next(mayServe), order.next(mayServe)], [two, two]);
  assert.equal(
    order.next(() => false),
    undefined,
  );
});
