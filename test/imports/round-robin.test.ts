import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RoundRobin } from '../../src/imports/round-robin.ts';

const waiting = (...tenants: [tenant: string, dueAt: number][]) =>
  tenants.map(([tenant, dueAt]) => ({ tenantId: `ten_${tenant}` as const, dueAt }));

test('a tenant has one job at a time, however many it has', () => {
  const turns = new RoundRobin();
  assert.deepEqual(turns.choose(waiting(['a', 1]), { now: 5, limit: 2 }), ['ten_a']);
  turns.take('ten_a');
  assert.deepEqual(turns.choose(waiting(['a', 2]), { now: 5, limit: 1 }), []);
  turns.free('ten_a');
  assert.deepEqual(turns.choose(waiting(['a', 2]), { now: 5, limit: 1 }), ['ten_a']);
});

test('who was served longest ago is next, and who never was before all', () => {
  const turns = new RoundRobin();
  for (const tenant of ['ten_a', 'ten_b'] as const) {
    turns.take(tenant);
    turns.free(tenant);
  }
  const all = waiting(['b', 1], ['a', 2], ['d', 4], ['c', 3]);
  assert.deepEqual(turns.choose(all, { now: 5, limit: 4 }), ['ten_c', 'ten_d', 'ten_a', 'ten_b']);
  assert.deepEqual(turns.choose(all, { now: 5, limit: 1 }), ['ten_c']);
});

test('what is not due yet is not chosen, and is what is slept for', () => {
  const turns = new RoundRobin();
  turns.take('ten_a');
  assert.deepEqual(turns.choose(waiting(['a', 6], ['b', 7], ['c', 8]), { now: 5, limit: 2 }), []);
  assert.equal(turns.nextDueAt(), 7);
  assert.deepEqual(turns.choose([], { now: 5, limit: 2 }), []);
  assert.equal(turns.nextDueAt(), undefined);
});
