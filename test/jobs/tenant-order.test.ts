import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TenantOrder } from '../../src/jobs/tenant-order.ts';

const waiting = (...tenants: [tenant: string, dueAt: number][]) =>
  tenants.map(([tenant, dueAt]) => ({ tenantId: `ten_${tenant}` as const, dueAt }));

test('a tenant has one job at a time, however many it has', () => {
  const tenants = new TenantOrder();
  assert.deepEqual(tenants.choose(waiting(['a', 1]), { now: 5, limit: 2 }), ['ten_a']);
  tenants.begin('ten_a');
  assert.deepEqual(tenants.choose(waiting(['a', 2]), { now: 5, limit: 1 }), []);
  tenants.end('ten_a');
  assert.deepEqual(tenants.choose(waiting(['a', 2]), { now: 5, limit: 1 }), ['ten_a']);
});

test('a tenant whose job has run waits behind all tenants that have waited meanwhile', () => {
  const tenants = new TenantOrder();
  const all = waiting(['a', 1], ['c', 3], ['b', 2]);
  const served: string[] = [];
  for (let round = 0; round < 6; round++) {
    for (const tenantId of tenants.choose(all, { now: 5, limit: 1 })) {
      tenants.begin(tenantId);
      tenants.choose(all, { now: 5, limit: 0 });
      tenants.end(tenantId);
      served.push(tenantId);
    }
  }
  assert.deepEqual(served, ['ten_a', 'ten_b', 'ten_c', 'ten_a', 'ten_b', 'ten_c']);
});

test('a tenant whose job was deferred is not chosen until the job is due again', () => {
  const tenants = new TenantOrder();
  assert.deepEqual(tenants.choose(waiting(['a', 1], ['b', 2]), { now: 5, limit: 0 }), []);
  assert.deepEqual(tenants.choose(waiting(['a', 9], ['b', 2]), { now: 5, limit: 2 }), ['ten_b']);
  assert.deepEqual(tenants.choose(waiting(['a', 9]), { now: 9, limit: 2 }), ['ten_a']);
});

test('the next due time is that of tenants without a running job', () => {
  const tenants = new TenantOrder();
  tenants.begin('ten_a');
  assert.deepEqual(tenants.choose(waiting(['a', 6], ['b', 7], ['c', 8]), { now: 5, limit: 2 }), []);
  assert.equal(tenants.nextDueAt(), 7);
  assert.deepEqual(tenants.choose([], { now: 5, limit: 2 }), []);
  assert.equal(tenants.nextDueAt(), undefined);
});
