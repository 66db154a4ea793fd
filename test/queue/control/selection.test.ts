import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  covers,
  EVERYTHING,
  isWithin,
  keyAfter,
  mayCover,
  type Selection,
  seekPast,
} from '../../../src/queue/control/selection.ts';
import { parseQueueKey, queueKeyOf, rerouteQueue } from '../../../src/queue/queue-key.ts';

const everywhere = () => true;

const tenants = fc.constantFrom('ten_a', 'ten_b', 'ten_c');
const domains = fc.constantFrom(
  'a.example',
  'a-b.example',
  'ab.example',
  'a.example.net',
  'z.example',
  '1.example',
);
const kinds = fc.constantFrom('transactional', 'broadcast') as fc.Arbitrary<'transactional' | 'broadcast'>;
const keys = fc
  .record({
    mode: fc.constantFrom('live', 'test') as fc.Arbitrary<'live' | 'test'>,
    kind: kinds,
    tenantId: tenants,
    domain: domains,
    target: fc.constantFrom(undefined, 'relay.example'),
  })
  .map(({ domain, target, ...name }) => rerouteQueue(queueKeyOf(name, domain), target));
const selections = fc
  .record({
    tenantId: fc.option(tenants),
    domain: fc.option(domains),
    kind: fc.option(kinds),
  })
  .map((criteria) => ({ ...EVERYTHING, ...criteria }) as Selection);

test('a search that skips the queues of others finds each queue of the selection', () => {
  fc.assert(
    fc.property(fc.uniqueArray(keys, { maxLength: 30 }), selections, (all, selection) => {
      const sorted = all.sort();
      const found: string[] = [];
      let from = '';
      for (let searches = 0; searches <= all.length; searches++) {
        const key = sorted.find((candidate) => candidate >= from);
        if (key === undefined) break;
        const isNamed = mayCover(selection, parseQueueKey(key), everywhere);
        if (isNamed) found.push(key);
        from = isNamed ? keyAfter(key) : seekPast(key, selection);
        assert.ok(from > key, `${from} is not behind ${key}`);
      }
      const expected = sorted.filter((key) => mayCover(selection, parseQueueKey(key), everywhere));
      assert.deepEqual(found, expected);
    }),
  );
});

test('a search for one domain takes a few steps for each tenant, however many domains there are', () => {
  const all = ['ten_a', 'ten_b'].flatMap((tenantId) =>
    Array.from({ length: 500 }, (_, index) =>
      queueKeyOf({ mode: 'live', kind: 'transactional', tenantId }, `d${index}.example`),
    ),
  );
  const sorted = all.sort();
  const selection = { ...EVERYTHING, domain: 'd250.example' };
  let searches = 0;
  for (let from = ''; ; searches++) {
    const key = sorted.find((candidate) => candidate >= from);
    if (key === undefined) break;
    from = mayCover(selection, parseQueueKey(key), everywhere) ? keyAfter(key) : seekPast(key, selection);
  }
  assert.ok(searches <= 2 * 5, `${searches} searches`);
});

test('test mail shares a queue, and is selected by the domain of its recipient', () => {
  const queue = queueKeyOf({ mode: 'test', kind: 'transactional', tenantId: 'ten_a' }, 'a.example');
  const recipient = { messageId: 'em_1', queue, domain: 'a.example', class: null };
  assert.equal(covers({ ...EVERYTHING, domain: 'a.example' }, recipient, everywhere), true);
  assert.equal(covers({ ...EVERYTHING, domain: 'b.example' }, recipient, everywhere), false);
});

test('a selection is within another one that has no other criteria', () => {
  const narrow = { ...EVERYTHING, domain: 'a.example', kind: 'broadcast' } as const;
  assert.equal(isWithin(narrow, EVERYTHING), true);
  assert.equal(isWithin(narrow, { ...EVERYTHING, domain: 'a.example' }), true);
  assert.equal(isWithin({ ...EVERYTHING, domain: 'a.example' }, narrow), false);
  assert.equal(isWithin(narrow, { ...EVERYTHING, domain: 'b.example' }), false);
});
