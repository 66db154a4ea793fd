import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mail, World, type WorldSite } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const anyPeer = fc.record({
  isDead: fc.constant(false),
  takes: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
  messageMs: fc.integer({ min: 1, max: 500 }),
});
const anySite = fc.record({
  peer: anyPeer,
  limits: fc.record({
    connections: fc.integer({ min: 1, max: 8 }),
    recipientsPerMinute: fc.option(fc.integer({ min: 60, max: 6_000 })),
    connectionsPerMinute: fc.option(fc.integer({ min: 10, max: 600 })),
    group: fc.option(fc.constantFrom({ name: 'one', connections: 3 }, { name: 'two', connections: 1 })),
  }),
});
const anyQueue = fc.record({
  tenantId: fc.constantFrom('ten_1', 'ten_2', 'ten_3'),
  band: fc.constantFrom('report', 'transactional', 'broadcast') as fc.Arbitrary<
    'report' | 'transactional' | 'broadcast'
  >,
  site: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  messages: fc.integer({ min: 0, max: 40 }),
  at: fc.integer({ min: 0, max: 60_000 }),
});
const anyWorld = fc.record({
  sites: fc.tuple(anySite, anySite, anySite, anySite, anySite),
  queues: fc.array(anyQueue, { minLength: 1, maxLength: 12 }),
  connections: fc.integer({ min: 1, max: 12 }),
  outage: fc.record({ site: fc.constantFrom('a', 'b'), minutes: fc.integer({ min: 0, max: 20 }) }),
  /** Connections that the operator ends, and the site whose rests it lifts. */
  ended: fc.array(
    fc.record({ session: fc.integer({ min: 1, max: 30 }), at: fc.integer({ min: 0, max: 90_000 }) }),
    {
      maxLength: 8,
    },
  ),
  lifted: fc.option(fc.constantFrom('a', 'b', 'c')),
});

test('limits are never exceeded, nothing starves, and everything ends, whatever the world is', () => {
  fc.assert(
    fc.property(anyWorld, ({ sites, queues, connections, outage, ended, lifted }) => {
      const [a, b, c, d, e] = sites as unknown as WorldSite[];
      const world = new World({ a, b, c, d, e } as Record<string, WorldSite>, connections);
      const peer = world.peerOf(outage.site);
      if (outage.minutes > 0) world.setPeer(outage.site, { ...peer, isDead: true });
      const steps = [
        ...queues.map(({ at, ...queue }) => ({
          at,
          take: () => world.add({ [`${queue.band} ${queue.tenantId} ${queue.site}`]: queue }),
        })),
        ...ended.map(({ at, session }) => ({ at, take: () => world.tell({ kind: 'dismissed', session }) })),
      ];
      for (const { at, take } of steps.toSorted((left, right) => left.at - right.at)) {
        world.run(at);
        take();
      }
      if (lifted !== null) world.tell({ kind: 'rest-lifted', site: lifted });
      if (lifted !== null) world.tell({ kind: 'unlearned', site: lifted });
      world.run(outage.minutes * MINUTE_MS);
      world.setPeer(outage.site, peer);
      world.run(10 * HOUR_MS);
      world.run();
      assert.equal(world.waiting, 0, 'all mail is accepted');
      assert.equal(world.openSessions, 0, 'all sessions have ended');
      assert.equal(world.schedule.wakeAt, undefined, 'nothing is planned');
    }),
    { numRuns: 150, seed: 31 },
  );
});

test('the whole capacity is used while mail waits for it', () => {
  const world = new World({ a: { peer: { messageMs: 100 } } }, 10);
  world.add(mail('a', 20_000));
  world.run(20_000);
  const before = world.accepted.length;
  world.run(30_000);
  // One tenant may hold seven of eight connections (slots.ts): 8 of 10, 100 ms for each message.
  const most = 8 * 100;
  assert.ok(world.accepted.length - before > most * 0.95, `${world.accepted.length - before} of ${most}`);
});

test('a site that takes five connections and says 421 beyond is asked for a sixth once in ten minutes', () => {
  const world = new World({ a: { limits: { connections: 20 }, peer: { takes: 5, messageMs: 20 } } });
  world.add(mail('a', 20_000));
  world.run(5 * MINUTE_MS);
  assert.equal(world.waiting, 0);
  assert.ok(world.refusals.length <= 3, `${world.refusals.length} refusals for 20,000 messages`);
  const refused = world.refusals.length;
  world.setPeer('a', { takes: 5, messageMs: 200 });
  world.add(mail('a', 60_000));
  world.run(29 * MINUTE_MS);
  assert.ok(world.waiting > 0);
  const later = world.refusals.slice(refused).map(({ at }) => Math.floor(at / MINUTE_MS));
  assert.ok(later.length <= 4, `${later.length} refusals in minutes ${later}`);
  assert.deepEqual([...new Set(later)], [10, 20]);
});

test('a dead site is tried by one message after each rest, its other mail is not claimed, and it drains within a minute of its return', () => {
  const world = new World({ a: { peer: { isDead: true } } });
  world.add(mail('a', 100_000));
  world.run(10 * MINUTE_MS);
  const claimed = world.claimedAt.reduce((sum, { messages }) => sum + messages, 0);
  assert.ok(claimed < 40, `${claimed} messages were claimed`);
  const late = world.claimedAt.filter(({ at }) => at > MINUTE_MS);
  assert.ok(late.every(({ messages }) => messages === 1));
  assert.ok(late.length >= 11, `${late.length} probes in nine minutes`);
  world.setPeer('a', { messageMs: 5 });
  world.run(11 * MINUTE_MS);
  assert.ok(world.accepted.length > 1_000);
});

test('50 sites of which one hangs: the others lose nothing', () => {
  const sites = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [
      `s${index}`,
      { peer: { messageMs: index === 0 ? HOUR_MS : 20 } },
    ]),
  );
  const world = new World(sites);
  for (const site of Object.keys(sites)) world.add(mail(site, 100));
  world.run(10_000);
  assert.equal(world.accepted.length, 49 * 100);
});

test('one transactional message leaves within a second beside 100,000 copies of a broadcast of another tenant', () => {
  const world = new World({ a: { limits: { connections: 4 }, peer: { messageMs: 20 } } });
  world.add(mail('a', 100_000, 'ten_1', 'broadcast'));
  world.run(30_000);
  world.add(mail('a', 1, 'ten_2'));
  world.run(31_000);
  const own = world.accepted.filter(({ tenantId }) => tenantId === 'ten_2');
  assert.equal(own.length, 1);
});

test('a transactional message is sent before the copies that are claimed already, and a flood of others leaves them their share', () => {
  const world = new World({ a: { limits: { connections: 4 }, peer: { messageMs: 1_000 } } });
  const sentOf = (tenantId: string) => world.accepted.filter((sent) => sent.tenantId === tenantId);
  world.add(mail('a', 1_000, 'ten_1', 'broadcast'));
  world.run(60_300);
  world.add(mail('a', 1, 'ten_2'));
  // The sessions are busy for up to a second, and the message takes another.
  world.run(62_400);
  assert.equal(sentOf('ten_2').length, 1);
  world.add(mail('a', 1_000, 'ten_3'));
  const copies = sentOf('ten_1').length;
  world.run(162_400);
  const ratio = (sentOf('ten_1').length - copies) / sentOf('ten_3').length;
  assert.ok(ratio > 0.2 && ratio < 0.3, `${ratio}`);
});

test('after urgent mail a site with ten connections or more keeps one free of copies for five seconds', () => {
  const peer = { messageMs: 1_000 };
  const world = new World({
    few: { limits: { connections: 9 }, peer },
    many: { limits: { connections: 10 }, peer },
  });
  for (const site of ['few', 'many']) world.add(mail(site, 100_000, 'ten_1', 'broadcast'));
  world.run(60_000);
  const delayOf = (site: string) => {
    const addedAt = world.now;
    world.add(mail(site, 1, 'ten_2'));
    world.run(addedAt + 2_500);
    const sent = world.accepted.findLast((one) => one.site === site && one.tenantId === 'ten_2');
    return (sent?.at ?? Number.POSITIVE_INFINITY) - addedAt;
  };
  const copiesIn = (ms: number) => {
    const before = world.accepted.length;
    world.run(world.now + ms);
    return world.accepted
      .slice(before)
      .filter(({ site, tenantId }) => site === 'many' && tenantId === 'ten_1').length;
  };
  assert.equal(copiesIn(10_000), 100);
  delayOf('many');
  for (let round = 0; round < 5; round++) assert.ok(delayOf('many') < 1_010, `round ${round}`);
  // The next second may have begun before the session was free.
  assert.ok(copiesIn(2_000) <= 19);
  world.run(world.now + 5_000);
  assert.ok(copiesIn(10_000) >= 99, 'all connections carry copies again');
  delayOf('few');
  const delays = Array.from({ length: 5 }, () => delayOf('few'));
  assert.ok(Math.max(...delays) > 1_050, `${delays}`);
});

test('copies keep their share beside endless urgent mail, whatever the number of connections', () => {
  for (const connections of [4, 10, 20]) {
    const world = new World({ a: { limits: { connections }, peer: { messageMs: 50 } } });
    world.add({ ...mail('a', 100_000, 'ten_1', 'broadcast'), ...mail('a', 100_000, 'ten_2') });
    world.run(10_000);
    const before = world.accepted.length;
    world.run(30_000);
    const during = world.accepted.slice(before);
    const copies = during.filter(({ tenantId }) => tenantId === 'ten_1').length;
    assert.ok(copies / during.length > 0.15, `${copies} of ${during.length} with ${connections}`);
  }
});

test('a tenant that rests at a site keeps no other tenant from it', () => {
  const world = new World({ a: {} });
  world.add(mail('a', 1, 'ten_2'));
  world.run(100);
  world.shape('a', { rests: [{ tenantId: 'ten_1', until: 50_000, reason: 'too fast' }] });
  world.add({ ...mail('a', 10, 'ten_1'), ...mail('a', 9, 'ten_2') });
  world.run(40_000);
  assert.deepEqual(
    world.accepted.filter(({ tenantId }) => tenantId === 'ten_1'),
    [],
  );
  assert.equal(world.accepted.length, 10);
  assert.deepEqual(world.schedule.explain('a', world.now)?.restingTenants, [
    { tenantId: 'ten_1', until: 50_000, reason: 'too fast' },
  ]);
  world.run();
  assert.equal(world.waiting, 0);
});

test('a connection that the operator ends takes no more mail, and the next one goes on', () => {
  const world = new World({ a: { limits: { connections: 1 }, peer: { messageMs: 100 } } });
  world.add(mail('a', 10));
  world.run(50);
  world.tell({ kind: 'dismissed', session: 1 });
  assert.deepEqual(world.schedule.explain('a', world.now)?.connections, [
    { id: 1, state: 'ending', tenantId: 'ten_1' },
  ]);
  world.run(150);
  assert.equal(world.accepted.length, 1, 'what it sent is not cut off');
  assert.equal(world.schedule.explain('a', world.now)?.connections[0]?.id, 2);
  world.run(5_000);
  assert.equal(world.accepted.length, 10);
  assert.equal(world.schedule.explain('a', world.now)?.connections[0]?.state, 'idle');
  world.tell({ kind: 'dismissed', session: 2 });
  world.run(world.now + 1);
  assert.equal(world.openSessions, 0, 'one that waits for mail ends at once');
  world.tell({ kind: 'dismissed', session: 2 });
});

test('a rest that the operator lifts ends, one message tries the site first, and other rests stay', () => {
  const world = new World({ a: { peer: { isDead: true } } });
  world.add({ ...mail('a', 20), ...mail('a', 1, 'ten_2') });
  world.run(5_000);
  const { binding } = world.schedule.explain('a', world.now) ?? {};
  assert.equal(binding?.limit, 'rest');
  world.setPeer('a', { messageMs: 200 });
  const claims = world.claimedAt.length;
  const resting = { tenantId: 'ten_2', until: 60_000, reason: 'too fast' };
  world.shape('a', { rests: [resting] });
  world.tell({ kind: 'rest-lifted', site: 'a' });
  world.run(5_150);
  assert.equal(world.schedule.explain('a', world.now)?.binding.limit, 'probe');
  world.run(30_000);
  assert.equal(world.claimedAt[claims]?.messages, 1);
  assert.deepEqual(world.schedule.explain('a', world.now)?.restingTenants, [resting]);
  assert.ok(world.accepted.length > 0);
  assert.ok(world.accepted.every(({ tenantId }) => tenantId === 'ten_1'));
  world.shape('a', { rests: [] });
  world.run();
  assert.equal(world.waiting, 0);
});

test('what a site has taught is forgotten at the word of the operator, and what rules have imposed is not', () => {
  const world = new World({ a: { limits: { connections: 20 }, peer: { takes: 3, messageMs: 20 } } });
  const learned = () => world.schedule.explain('a', world.now)?.learned;
  world.add(mail('a', 5_000));
  world.run(MINUTE_MS);
  const { connections, ceilingUntil } = learned() ?? {};
  assert.ok(connections === 3 && (ceilingUntil ?? 0) > world.now);
  world.setPeer('a', { messageMs: 20 });
  world.tell({ kind: 'unlearned', site: 'a' });
  assert.deepEqual(learned(), {
    connections: 2,
    ceilingUntil: null,
    failures: 0,
    rest: null,
    isProbed: false,
  });
  world.add(mail('a', 2_000));
  world.run(world.now + MINUTE_MS);
  assert.ok((learned()?.connections ?? 0) > 3, 'it gets as many as it takes again');
  world.setPeer('a', { isDead: true });
  world.add(mail('a', 50));
  world.run(world.now + 10_000);
  assert.ok((learned()?.failures ?? 0) >= 5);
  assert.ok(learned()?.rest);
  const imposed = { tenantId: null, until: world.now + 5_000, reason: 'a rule' };
  world.shape('a', { rests: [imposed] });
  world.tell({ kind: 'unlearned', site: 'a' });
  assert.deepEqual([learned()?.rest, learned()?.isProbed], [null, true]);
  assert.equal(world.schedule.explain('a', world.now)?.binding.reason, 'a rule');
});

test('a site with a rate gets no more than that, and says so', () => {
  const world = new World({ a: { limits: { recipientsPerMinute: 60 } } });
  world.add(mail('a', 30));
  world.run(10_500);
  assert.ok(world.accepted.length <= 12, `${world.accepted.length} in ten seconds`);
  assert.equal(world.schedule.explain('a', world.now)?.binding.limit, 'recipients_per_minute');
  world.run();
  assert.equal(world.waiting, 0);
});

test('the schedule names the limit that binds', () => {
  const bindingOf = (limits: WorldSite['limits'], peer: WorldSite['peer'], until = 5_000) => {
    const world = new World({ a: { ...(limits && { limits }), ...(peer && { peer }) } });
    world.add(mail('a', 10_000));
    world.run(until);
    return world.schedule.explain('a', world.now)?.binding;
  };
  assert.equal(bindingOf({ connections: 1 }, {})?.limit, 'connections');
  assert.equal(bindingOf({ group: { name: 'g', connections: 1 } }, {})?.limit, 'group_connections');
  assert.equal(bindingOf({}, { takes: 2, messageMs: 1 })?.limit, 'learned_connections');
  const rest = bindingOf({}, { isDead: true });
  assert.deepEqual([rest?.limit, rest?.reason], ['rest', '5 failures in a row. Last: unreachable']);
});

test('a decision takes well below a millisecond with 10,000 sites', () => {
  const sites = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`s${index}`, { peer: { messageMs: 50 } }]),
  );
  const world = new World(sites, 500);
  let events = 0;
  const handle = world.schedule.handle.bind(world.schedule);
  world.schedule.handle = (event, now) => {
    events++;
    return handle(event, now);
  };
  const begun = process.cpuUsage().user;
  for (const site of Object.keys(sites)) world.add(mail(site, 1));
  world.run(200);
  const perEventMs = (process.cpuUsage().user - begun) / 1_000 / events;
  // The world itself takes most of this time.
  assert.ok(perEventMs < 5, `${perEventMs} ms for each of ${events} events`);
});
