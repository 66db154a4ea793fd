import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Band } from '../../../src/queue/schedule/events.ts';
import { QueueOrder } from '../../../src/queue/schedule/queue-order.ts';

const everybody = { mayServe: () => true, weights: new Map<string, number>() };

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
  const others = { ...everybody, mayServe: (tenantId: string) => tenantId !== 'ten_1' };
  assert.deepEqual([order.next(others), order.next(others)], [two, two]);
  assert.equal(order.next({ ...everybody, mayServe: () => false }), undefined);
});

test('a tenant has as many messages in its turn as its weight, from its queues in turn, and keeps the rest while it may not be served', () => {
  const order = new QueueOrder<Queue>();
  for (const key of ['a', 'b']) order.add(queue('ten_1', 'transactional', key));
  for (const tenantId of ['ten_2', 'ten_3']) order.add(queue(tenantId, 'transactional', tenantId));
  const weights = new Map([['ten_1', 3]]);
  const serve = (count: number, except?: string) => {
    const mayServe = (tenantId: string) => tenantId !== except;
    return Array.from({ length: count }, () => order.next({ mayServe, weights })?.name.key).join(' ');
  };
  assert.equal(serve(10), 'a b a ten_2 ten_3 b a b ten_2 ten_3');
  assert.equal(serve(2), 'a b');
  assert.equal(serve(2, 'ten_1'), 'ten_2 ten_3');
  assert.equal(serve(5), 'a ten_2 ten_3 b a', 'one message was left of the turn');
});

/** Tenants that all have mail, with their numbers of queues and their weights; 1 is left out. */
const anyTenants = fc.array(
  fc.record({ queues: fc.integer({ min: 1, max: 4 }), weight: fc.integer({ min: 1, max: 100 }) }),
  { minLength: 1, maxLength: 6 },
);

test('shares of a band follow the weights, nobody starves, and with weight 1 for all tenants take turns', () => {
  const anyBand = fc.constantFrom<Band>('report', 'transactional', 'broadcast');
  fc.assert(
    fc.property(anyTenants, anyBand, fc.boolean(), (tenants, band, isWeighted) => {
      const order = new QueueOrder<Queue>();
      const weightOf = (index: number) => (isWeighted ? (tenants[index]?.weight ?? 1) : 1);
      const weights = new Map<string, number>();
      for (const [index, { queues }] of tenants.entries()) {
        if (weightOf(index) !== 1) weights.set(`ten_${index}`, weightOf(index));
        for (let key = 0; key < queues; key++) order.add(queue(`ten_${index}`, band, `${index} ${key}`));
      }
      const round = tenants.reduce((sum, _, index) => sum + weightOf(index), 0);
      // Other bands have no mail, so that all of the site is for this one.
      const served = Array.from({ length: 3 * round }, () => order.next({ ...everybody, weights })?.name);
      for (let start = 0; start <= 2 * round; start += Math.max(1, Math.floor(round / 7)))
        for (const index of tenants.keys()) {
          const own = served.slice(start, start + round).filter((name) => name?.tenantId === `ten_${index}`);
          assert.equal(own.length, weightOf(index), `of ${round} messages from ${start}`);
        }
    }),
    { numRuns: 100, seed: 31 },
  );
});
