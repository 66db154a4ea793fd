import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from '../../../src/queue/schedule/slots.ts';

const SITE = {};

/** Opens as many connections as the tenant may have. */
function fill(slots: Slots, tenantId: string, isProven: boolean): number {
  let count = 0;
  for (; slots.mayOpen(tenantId, isProven); count++) slots.open({ tenantId, isProven }, SITE);
  return count;
}

test('one tenant uses nearly all connections for sites that deliver, and most of them for others', () => {
  assert.equal(fill(new Slots(500), 'a', true), 437);
  assert.equal(fill(new Slots(500), 'a', false), 281);
});

test('a quarter of the connections is for sites that have delivered recently, whoever holds the others', () => {
  const slots = new Slots(500);
  for (let index = 0; index < 1_000; index++) fill(slots, `ten_${index}`, false);
  assert.equal(slots.mayOpen('late', false), false);
  assert.equal(fill(slots, 'late', true), 109);
});

test('six tenants with hosts that hang leave no connection to new sites for the seventh, five do', () => {
  const slots = new Slots(500);
  for (let index = 0; index < 5; index++) fill(slots, `ten_${index}`, false);
  assert.equal(slots.mayOpen('late', false), true);
  fill(slots, 'ten_5', false);
  assert.equal(slots.mayOpen('late', false), false);
});

test('the smallest limits leave every tenant a connection', () => {
  for (let capacity = 1; capacity <= 8; capacity++) {
    for (const isProven of [true, false]) assert.equal(new Slots(capacity).mayOpen('a', isProven), true);
    const slots = new Slots(capacity);
    fill(slots, 'a', false);
    assert.equal(slots.mayOpen('b', false), capacity > 1, `of ${capacity}`);
  }
});

test('a session counts for the tenant whose mail it took last, until all of it is settled and it is idle', () => {
  const slots = new Slots(8);
  const slot = slots.open({ tenantId: 'a', isProven: false }, SITE);
  slot.assign('a', false);
  slot.assign('b', true);
  assert.deepEqual(slot.charge, { tenantId: 'b', isProven: true });
  assert.equal(slot.settled(), false);
  assert.equal(slot.idle(), false);
  assert.equal(slot.charge?.tenantId, 'b');
  assert.equal(slot.settled(), true);
  assert.equal(slot.charge, undefined);
  slot.assign('c', false);
  assert.deepEqual(slot.charge, { tenantId: 'c', isProven: false });
  slot.close();
  assert.equal(fill(slots, 'd', true), 7, 'nothing is held any more');
});

test('a tenant has most connections at a site that has more of them than its sites have on average', () => {
  const slots = new Slots(100);
  const [busy, small] = [{}, {}];
  const open = (site: object) => slots.open({ tenantId: 'a', isProven: true }, site);
  const opened = [busy, busy, busy, small].map(open);
  assert.deepEqual([slots.hasMostAt('a', busy), slots.hasMostAt('a', small)], [true, false]);
  for (const slot of opened.slice(0, 2)) slot.close();
  assert.deepEqual([slots.hasMostAt('a', busy), slots.hasMostAt('a', small)], [false, false]);
  assert.equal(slots.hasMostAt('b', busy), false);
});
