/** Connections are shared by sites, groups of sites and tenants. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Site } from '../../../src/queue/schedule/site.ts';
import { mail, World, type WorldSite } from './world.ts';

const MANY = 1_000_000;

function sitesOf(count: number, site: WorldSite): Record<string, WorldSite> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, { ...site }]));
}

test('busy sites of a group give connections to a site of the group that has none', () => {
  const group = { name: 'g', connections: 4 };
  for (const messagesPerConnection of [100, 1_000_000]) {
    const limits = { group, messagesPerConnection };
    const world = new World({ ...sitesOf(2, { limits, peer: { messageMs: 20 } }), late: { limits } });
    world.add({ ...mail('s0', MANY), ...mail('s1', MANY) });
    world.run(10_000);
    world.add(mail('late', 10, 'ten_2'));
    world.run(12_000);
    const late = world.accepted.filter(({ site }) => site === 'late');
    assert.equal(late.length, 10, `with ${messagesPerConnection} messages a connection`);
  }
});

test('sites with a connection each give them to others of their group when they would have to connect again', () => {
  const limits = { group: { name: 'g', connections: 5 }, messagesPerConnection: 50 };
  const world = new World(sitesOf(20, { limits, peer: { messageMs: 20 } }));
  for (let index = 0; index < 20; index++) world.add(mail(`s${index}`, MANY, `ten_${index % 3}`));
  world.run(60_000);
  const counts = Array.from(
    { length: 20 },
    (_, index) => world.accepted.filter(({ site }) => site === `s${index}`).length,
  );
  assert.ok(Math.min(...counts) > 300, `each of 750 on average: ${counts.join(' ')}`);
});

test('connections are kept while all of them are in use, however many sites rest', () => {
  const dead = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`dead${index}`, { peer: { isDead: true } }]),
  );
  const limits = { messagesPerConnection: 100 };
  const world = new World({ ...sitesOf(3, { limits, peer: { messageMs: 20 } }), ...dead }, 20);
  for (const site of Object.keys(dead)) world.add(mail(site, 5));
  for (let index = 0; index < 3; index++) world.add(mail(`s${index}`, MANY));
  world.run(30_000);
  const [messages, connections] = [world.accepted.length, world.connected.length];
  world.run(60_000);
  const perConnection = (world.accepted.length - messages) / (world.connected.length - connections);
  assert.ok(perConnection > 50, `${perConnection} messages on each connection`);
});

test('a decision costs the same while thousands of sites wait for a full group', () => {
  const group = { name: 'g', connections: 5 };
  const costOf = (sites: number) => {
    const world = new World(sitesOf(sites, { limits: { group }, peer: { messageMs: 5 } }), 100);
    for (let index = 0; index < sites; index++) world.add(mail(`s${index}`, MANY));
    world.run(100);
    let asked = 0;
    const wantsSession = Site.prototype.wantsSession;
    Site.prototype.wantsSession = function wants(now) {
      asked++;
      return wantsSession.call(this, now);
    };
    const before = world.accepted.length;
    world.run(1_100);
    Site.prototype.wantsSession = wantsSession;
    return asked / (world.accepted.length - before);
  };
  const [few, many] = [costOf(50), costOf(1_000)];
  assert.ok(many < 3 * few, `${few} questions for each message of 50 sites, ${many} of 1,000`);
});

test('tenants at a site share its messages by their weights, from the moment at which these change', () => {
  const world = new World({ s: { limits: { connections: 4 }, peer: { messageMs: 20 } } });
  const shares = (until: number) => {
    const before = world.accepted.length;
    world.run(until);
    const during = Map.groupBy(world.accepted.slice(before), ({ tenantId }) => tenantId);
    const least = during.get('ten_2')?.length ?? 0;
    return ['ten_0', 'ten_1'].map((tenantId) => Math.round((during.get(tenantId)?.length ?? 0) / least));
  };
  for (const index of [0, 1, 2]) world.add(mail('s', MANY, `ten_${index}`));
  world.run(1_000);
  assert.deepEqual(shares(20_000), [1, 1]);
  world.tell({ kind: 'weights', weights: new Map(Object.entries({ ten_0: 5, ten_1: 2 })) });
  world.run(21_000);
  assert.deepEqual(shares(40_000), [5, 2]);
  world.tell({ kind: 'weights', weights: new Map() });
  world.run(41_000);
  assert.deepEqual(shares(60_000), [1, 1]);
});

/** Connections by which a tenant may have more than another one with mail, because some stay free for the next tenant (slots.ts). */
const TENANT_TOLERANCE = 10;
/** Connections by which sites of a tenant may differ, and the part of its limit that a site uses: sessions end and begin meanwhile. */
const SITE_TOLERANCE = 2;
const USED_PART = 0.8;
const MESSAGE_MS = 100;
const anyDemand = fc.record({
  capacity: fc.integer({ min: 40, max: 100 }),
  /** The limit of each site, by tenant. All of them have endless mail. */
  tenants: fc.array(fc.array(fc.constantFrom(1, 3, 10, 1_000), { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 4,
  }),
});

test('connections are shared max-min by tenants and by the sites of each: whoever has less than others has all that its limits allow', () => {
  fc.assert(
    fc.property(anyDemand, ({ capacity, tenants }) => {
      const sites: Record<string, WorldSite> = {};
      for (const [tenant, limits] of tenants.entries())
        for (const [index, connections] of limits.entries())
          sites[`t${tenant}s${index}`] = {
            limits: { connections, messagesPerConnection: 50 },
            peer: { messageMs: MESSAGE_MS },
          };
      const world = new World(sites, capacity);
      for (const [tenant, limits] of tenants.entries())
        for (const index of limits.keys()) world.add(mail(`t${tenant}s${index}`, MANY, `ten_${tenant}`));
      world.run(12_000);
      const before = world.accepted.length;
      world.run(20_000);
      const counts = Map.groupBy(world.accepted.slice(before), ({ site }) => site);
      /** Connections that were busy, on average. */
      const busy = tenants.map((limits, tenant) =>
        limits.map((_, index) => ((counts.get(`t${tenant}s${index}`)?.length ?? 0) * MESSAGE_MS) / 8_000),
      );
      const sums = busy.map((ofSites) => ofSites.reduce((sum, one) => sum + one, 0));
      const situation = `${JSON.stringify(busy)} of ${capacity}`;
      for (const [tenant, limits] of tenants.entries()) {
        const ofSites = busy[tenant] ?? [];
        const most = Math.max(...ofSites);
        const isSatisfied = (index: number) => (ofSites[index] ?? 0) >= USED_PART * (limits[index] ?? 0);
        for (const [index, one] of ofSites.entries())
          assert.ok(one >= most - SITE_TOLERANCE || isSatisfied(index), `a site gets less: ${situation}`);
        const getsLess = (sums[tenant] ?? 0) < Math.max(...sums) - TENANT_TOLERANCE;
        assert.ok(
          !getsLess || ofSites.every((_, index) => isSatisfied(index)),
          `a tenant gets less: ${situation}`,
        );
      }
    }),
    { numRuns: 10, seed: 31 },
  );
});
