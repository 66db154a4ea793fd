/** Limits that change while sessions are open, connections that are opened again, and rests that rules impose. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MESSAGES_PER_CONNECTION, type SiteLimits } from '../../../src/queue/schedule/limits.ts';
import { type Session, Site } from '../../../src/queue/schedule/site.ts';
import { Slots } from '../../../src/queue/schedule/slots.ts';
import { mail, World } from './world.ts';

const MINUTE_MS = 60_000;
const LIMITS: SiteLimits = {
  connections: 20,
  connectionsPerMinute: null,
  recipientsPerMinute: null,
  messagesPerConnection: MESSAGES_PER_CONNECTION,
  group: null,
};

test('a connection that a session opens again counts for the rate of connections', () => {
  const limits = { connectionsPerMinute: 6, messagesPerConnection: 1, connections: 5 };
  const world = new World({ a: { limits, peer: { messageMs: 5 } } });
  world.add(mail('a', 100));
  world.run(2 * MINUTE_MS);
  assert.ok(world.connected.length <= 13, `${world.connected.length} connections in two minutes`);
  assert.ok(world.connected.length >= 11, `${world.connected.length} connections in two minutes`);
  world.run();
  assert.equal(world.waiting, 0);
});

test('sessions beyond a limit that has become lower end after their message', () => {
  const world = new World({ a: { peer: { messageMs: 50 } } });
  world.add(mail('a', 20_000));
  world.run(20_000);
  assert.ok(world.sessionsOf('a') > 10);
  world.shape('a', { limits: { connections: 2 } });
  world.run(20_200);
  assert.equal(world.sessionsOf('a'), 2);
  world.shape('a', { limits: { connections: 8, group: { name: 'g', connections: 20 } } });
  world.run(40_000);
  assert.ok(world.sessionsOf('a') > 5);
  world.shape('a', { limits: { connections: 8, group: { name: 'g', connections: 3 } } });
  world.run(40_200);
  // Two of the sessions may have been opened before there was a group, in which they do not count.
  assert.ok(world.sessionsOf('a') <= 5, `${world.sessionsOf('a')} sessions`);
});

test('sessions beyond the limit of a group end, and others of the group stay', () => {
  const group = (connections: number) => ({ limits: { group: { name: 'g', connections } } });
  const world = new World({ a: { ...group(8), peer: { messageMs: 50 } }, b: { ...group(8) } });
  world.add({ ...mail('a', 20_000), ...mail('b', 20_000) });
  world.run(10_000);
  assert.equal(world.sessionsOf('a') + world.sessionsOf('b'), 8);
  for (const site of ['a', 'b']) world.shape(site, group(3));
  world.run(10_300);
  assert.equal(world.sessionsOf('a') + world.sessionsOf('b'), 3);
});

test('a rest that a rule imposes ends at its time, whatever is accepted meanwhile, and no claimed mail is sent in it', () => {
  const world = new World({ a: { peer: { messageMs: 400 } } });
  world.add(mail('a', 1_000));
  world.run(20_100);
  world.shape('a', { rests: [{ tenantId: null, until: 80_000, reason: 'a rule' }] });
  const underWay = world.sessionsOf('a');
  const before = world.accepted.length;
  world.run(79_000);
  assert.ok(world.accepted.length - before <= underWay, 'only what was under way is accepted');
  const binding = { limit: 'rest', until: 80_000, reason: 'a rule' };
  assert.deepEqual(world.schedule.explain('a', world.now)?.binding, binding);
  world.run(80_300);
  assert.equal(world.sessionsOf('a'), 1, 'one message tries the site');
  world.run();
  assert.equal(world.waiting, 0);
});

test('a rest that is lifted ends at once', () => {
  const rests = [{ tenantId: null, until: 60 * MINUTE_MS, reason: 'a rule' }];
  const world = new World({ a: { rests } });
  world.add(mail('a', 10));
  world.run(MINUTE_MS);
  assert.equal(world.accepted.length, 0);
  world.shape('a', { rests: [] });
  world.run(MINUTE_MS + 5_000);
  assert.equal(world.accepted.length, 10);
});

test('claimed mail of a tenant that comes to rest is given back, and that of others is sent', () => {
  const world = new World({ a: { limits: { connections: 1 }, peer: { messageMs: 1_000 } } });
  world.add({ ...mail('a', 10, 'ten_1'), ...mail('a', 10, 'ten_2') });
  world.run(5_000);
  world.shape('a', { rests: [{ tenantId: 'ten_1', until: MINUTE_MS, reason: 'spam' }] });
  world.run(20_000);
  const late = world.accepted.filter(({ tenantId, at }) => tenantId === 'ten_1' && at > 6_100);
  assert.deepEqual(late, [], 'only the message under way is sent');
  assert.equal(world.accepted.filter(({ tenantId }) => tenantId === 'ten_2').length, 10);
  world.run();
  assert.equal(world.waiting, 0);
});

test('a site that breaks off in the middle of five messages rests, and its other mail is not tried', () => {
  const world = new World({ a: { peer: { drops: true } } });
  world.add(mail('a', 1_000));
  world.run(10 * MINUTE_MS);
  const claimed = world.claimedAt.reduce((sum, { messages }) => sum + messages, 0);
  assert.ok(claimed < 40, `${claimed} messages were claimed`);
  world.setPeer('a', { messageMs: 5 });
  world.run(13 * MINUTE_MS);
  assert.ok(world.accepted.length > 900);
});

/** Returns a site with two sessions, of which the first is connected. */
function siteWithTwo(): { site: Site; connected: Session; other: Session } {
  const site = new Site('a', 'remote', { ...LIMITS, connections: 1 });
  const sessionOf = (id: number, isConnected: boolean): Session => ({
    id,
    site,
    slot: new Slots(10).open({ tenantId: 'ten_1', isProven: true }, site),
    group: undefined,
    ready: undefined,
    isNew: false,
    isConnected,
    isLast: false,
    isEnding: false,
    isDismissed: false,
    isGivenUp: false,
  });
  const [connected, other] = [sessionOf(1, true), sessionOf(2, false)];
  site.sessions.add(connected).add(other);
  return { site, connected, other };
}

test('a session that ends counts as a connection until it has ended', () => {
  const { site, connected, other } = siteWithTwo();
  assert.equal(site.mayConnect(other, 0), false);
  connected.isEnding = true;
  assert.equal(site.mayConnect(other, 0), false, 'its last outcome is being stored');
  site.sessions.delete(connected);
  assert.equal(site.mayConnect(other, 0), true);
  connected.isConnected = false;
  site.sessions.add(connected);
  assert.equal(site.mayConnect(other, 0), true, 'one without a connection counts for nothing');
});
