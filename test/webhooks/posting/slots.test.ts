import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointId } from '../../../src/webhooks/deliveries/store.ts';
import { IN_FLIGHT, Slots, type WaitingEndpoint } from '../../../src/webhooks/posting/slots.ts';

const NOW = 1_000;
/** Each endpoint has its own tenant, unless the call names one. */
const waiting = (name: string, failing: 0 | 1 = 0, tenant = name): WaitingEndpoint => ({
  endpointId: `wh_${name}`,
  tenantId: `ten_${tenant}`,
  dueAt: NOW,
  failing,
});
const many = (prefix: string, count: number, failing: 0 | 1 = 0) =>
  Array.from({ length: count }, (_, index) => waiting(`${prefix}${index}`, failing));
const ofTenant = (tenant: string, count: number, failing: 0 | 1 = 0) =>
  Array.from({ length: count }, (_, index) => waiting(`${tenant}${index}`, failing, tenant));
const holder = (name: string) => ({ id: `wh_${name}`, tenantId: `ten_${name}` }) as const;

function receiverOf(endpoints: readonly WaitingEndpoint[], id: EndpointId) {
  const tenantId = endpoints.find(({ endpointId }) => endpointId === id)?.tenantId;
  assert.ok(tenantId);
  return { id, tenantId };
}

/** Takes what is shared out, as the worker does. */
function grant(slots: Slots, endpoints: readonly WaitingEndpoint[], limit: number): Map<EndpointId, number> {
  const claims = slots.share(endpoints, { now: NOW, limit });
  for (const claim of claims)
    for (let count = 0; count < claim.limit; count += 1) slots.take(receiverOf(endpoints, claim.endpointId));
  return new Map(claims.map((claim) => [claim.endpointId, claim.limit]));
}

test('an endpoint has four slots at most, and gets one back for each that ends', () => {
  const slots = new Slots();
  const one = [waiting('a')];
  assert.deepEqual([...grant(slots, one, 10)], [['wh_a', 4]]);
  assert.deepEqual([...grant(slots, one, 10)], []);
  assert.equal(slots.next(one), undefined);
  slots.free(holder('a'));
  assert.equal(slots.next(one), one[0]);
  assert.deepEqual([...grant(slots, one, 10)], [['wh_a', 1]]);
});

test('slots go to the endpoints that hold the fewest, and among equals to the longest due', () => {
  const slots = new Slots();
  const [a, b, c] = [waiting('a'), waiting('b'), waiting('c')];
  grant(slots, [a], 2);
  grant(slots, [b], 1);
  assert.deepEqual(
    [...grant(slots, [a, b, c], 2)],
    [
      ['wh_c', 1],
      ['wh_b', 1],
    ],
  );
  assert.deepEqual([...grant(slots, [a, b, c], 1)], [['wh_c', 1]]);
  assert.deepEqual(
    [...grant(slots, [a, b, c], 2)],
    [
      ['wh_a', 1],
      ['wh_b', 1],
    ],
  );
});

test('an endpoint whose last post failed has one slot', () => {
  const slots = new Slots();
  assert.deepEqual(
    [...grant(slots, [waiting('a', 1), waiting('b')], 10)],
    [
      ['wh_a', 1],
      ['wh_b', 4],
    ],
  );
});

test('an endpoint that began to fail with four posts under way waits until they have ended', () => {
  const slots = new Slots();
  grant(slots, [waiting('a')], 4);
  const failing = [waiting('a', 1)];
  for (let left = 3; left >= 0; left -= 1) {
    assert.deepEqual([...grant(slots, failing, 1)], []);
    slots.free(holder('a'));
  }
  assert.deepEqual([...grant(slots, failing, 1)], [['wh_a', 1]]);
});

test('a quarter of the webhook slots is left to healthy endpoints, however many fail', () => {
  const slots = new Slots();
  const dead = many('dead', 1_000, 1);
  assert.equal(grant(slots, dead, IN_FLIGHT).size, 192);
  assert.equal(slots.next(dead), undefined, 'there is no room for another failing one');
  const alive = many('alive', 100);
  const free = IN_FLIGHT - 192;
  const granted = grant(slots, [...dead, ...alive], free);
  assert.equal(granted.size, free);
  assert.ok([...granted.keys()].every((id) => id.startsWith('wh_alive')));
});

test('running posts to failing endpoints count, even when those endpoints have nothing more due', () => {
  const slots = new Slots();
  const dead = many('dead', 192, 1);
  grant(slots, dead, IN_FLIGHT);
  const leased = dead.map((one) => ({ ...one, dueAt: NOW + 60_000 }));
  assert.equal(grant(slots, [...leased, ...many('late', 10, 1)], 64).size, 0);
});

test('an endpoint without due deliveries gets no slot, and is considered first the next time', () => {
  const slots = new Slots();
  const later = { ...waiting('a'), dueAt: NOW + 1 };
  assert.equal(grant(slots, [later], 10).size, 0);
  assert.equal(slots.next([later]), later);
});

test('no more slots are assigned than were requested', () => {
  assert.equal(new Slots().share(many('a', 300), { now: NOW, limit: 7 }).length, 7);
  assert.deepEqual(new Slots().share(many('a', 3), { now: NOW, limit: 0 }), []);
});

test('of the endpoints that wait, those without a slot and given none since get one each', () => {
  const slots = new Slots();
  const [busy, later] = [waiting('busy'), { ...waiting('later'), dueAt: NOW + 1 }];
  grant(slots, [busy], 1);
  const all = [waiting('given'), busy, later, ...many('rest', 3)];
  const rest = (limit: number, failing: readonly WaitingEndpoint[] = []) =>
    slots
      .shareRest([...all, ...failing], { now: NOW, limit, given: new Set(['wh_given']) })
      .map((claim) => [claim.endpointId, claim.limit]);
  assert.deepEqual(rest(2), [
    ['wh_rest0', 1],
    ['wh_rest1', 1],
  ]);
  assert.deepEqual(rest(10), [
    ['wh_rest0', 1],
    ['wh_rest1', 1],
    ['wh_rest2', 1],
  ]);
  const failing = many('failing', IN_FLIGHT, 1);
  const held = grant(slots, failing, IN_FLIGHT).size;
  assert.ok(held < IN_FLIGHT, 'as many as those that fail may have');
  assert.equal(rest(IN_FLIGHT, failing).length, 3);
});

const heldBy = (granted: Map<EndpointId, number>, tenant: string) =>
  [...granted].reduce((sum, [id, count]) => (id.startsWith(`wh_${tenant}`) ? sum + count : sum), 0);

test('a tenant alone has half of the slots, and the rest is for the next tenants', () => {
  const slots = new Slots();
  const first = ofTenant('a', 100);
  assert.equal(heldBy(grant(slots, first, IN_FLIGHT), 'a'), 128);
  assert.equal(slots.next(first), undefined, 'until a post ends');
  const second = grant(slots, [...first, ...ofTenant('b', 100)], IN_FLIGHT);
  assert.deepEqual([heldBy(second, 'a'), heldBy(second, 'b')], [0, 64]);
  const third = grant(slots, [...first, ...ofTenant('c', 1)], IN_FLIGHT);
  assert.deepEqual([...third], [['wh_c0', 4]]);
});

test('tenants that come together have equal shares, however many endpoints each has and whichever is longer due', () => {
  const granted = grant(
    new Slots(),
    [...ofTenant('a', 500), ...ofTenant('b', 50), ...ofTenant('c', 2)],
    IN_FLIGHT,
  );
  assert.deepEqual([heldBy(granted, 'a'), heldBy(granted, 'b'), heldBy(granted, 'c')], [83, 83, 8]);
  const few = grant(new Slots(), [...ofTenant('a', 500), waiting('b')], 2);
  assert.deepEqual([...few.keys()], ['wh_a0', 'wh_b']);
});

test('a slot that comes free goes to the tenant that holds the fewest', () => {
  const slots = new Slots();
  const hanging = ofTenant('a', 50);
  grant(slots, hanging, IN_FLIGHT);
  slots.free(receiverOf(hanging, 'wh_a0'));
  assert.deepEqual([...grant(slots, [...hanging, waiting('b')], 1)], [['wh_b', 1]]);
});

test('pending deliveries of deleted endpoints get slots too', () => {
  const deleted = { ...waiting('gone'), tenantId: null };
  const claims = new Slots().share([deleted], { now: NOW, limit: 5 });
  assert.deepEqual(claims, [{ endpointId: 'wh_gone', limit: 4 }]);
});
