/** Mail that leaves from configured sources, with real connections on loopback. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import type { ConfiguredSource } from '../../../src/config/sources.ts';
import { claimDeliveries } from '../../../src/queue/claim.ts';
import { parseRules } from '../../../src/queue/shaping/parse.ts';
import { deleteRestriction, listRestrictions } from '../../../src/queue/shaping/restrictions-store.ts';
import { RuleTable } from '../../../src/queue/shaping/rule-table.ts';
import { listSources } from '../../../src/queue/sources/list.ts';
import { proveAddress } from '../../../src/queue/sources/proof.ts';
import { probeSources } from '../../../src/queue/sources/recover.ts';
import { Sources } from '../../../src/queue/sources/sources.ts';
import { listSuspensions, resumeAddresses } from '../../../src/queue/sources/store.ts';
import { beginWarmUp, endWarmUp } from '../../../src/queue/sources/warm-up/operate.ts';
import { dayOf } from '../../../src/queue/sources/warm-up/warm-up.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { dialLoopback } from '../../support/loopback.ts';
import { type SocksScript, startSocksServer } from '../../support/socks-server.ts';
import { noReceiver } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { setFirstAttempts } from '../../support/warm-ups.ts';
import { openWorld } from './world.ts';

const closing = closeAfterTests();

const world = await openWorld(closing);

/** Ends what one test has left behind. */
beforeEach(async () => {
  world.arrived.length = 0;
  world.unplugged.clear();
  const { db } = world.app;
  await db.commit(resumeAddresses, { resumed: await listSuspensions(db.read) });
});

const A = { name: 'a', addresses: ['127.0.0.11'], ehlo: 'a.mx.example' };
const B = { name: 'b', addresses: ['127.0.0.12'], ehlo: 'b.mx.example' };

const socksAt = (port: number): ConfiguredSource => ({
  name: 'socks',
  addresses: ['203.0.113.9'],
  ehlo: 'vm.example',
  socks5: `127.0.0.1:${port}`,
});

const recipientOf = (messageId: string) =>
  world.app.db.read
    .selectFrom('recipients')
    .select(['id', 'queue'])
    .where('messageId', '=', messageId)
    .executeTakeFirstOrThrow();

const startSocks = (script: SocksScript) => startSocksServer({ after }, script);

test('mail leaves from the source of its pool, with the name of the source', async () => {
  await world.accept('x@a.example');
  await world.accept('x@b.example');
  const pools = [
    { name: 'all', sources: ['a'] },
    { name: 'special', sources: ['b'], domain: 'b.example' },
  ];
  await world.deliverFrom([A, B], pools);
  assert.deepEqual(
    world.arrived.toSorted((one, other) => (one.to < other.to ? -1 : 1)),
    [
      { from: '127.0.0.11', ehlo: 'a.mx.example', to: 'x@a.example' },
      { from: '127.0.0.12', ehlo: 'b.mx.example', to: 'x@b.example' },
    ],
  );
});

test('first attempts that leave from a source that is warmed up are counted', async () => {
  await world.accept('x@c.example');
  const app = await world.deliverFrom([A]);
  await beginWarmUp(app, 'a');
  await world.accept('y@c.example');
  await world.accept('z@c.example');
  await world.deliverFrom([A]);
  const [shown] = await listSources(app);
  assert.equal(shown?.warmUp?.providers.at(-1)?.firstAttempts, 2);
  await endWarmUp(app, 'a');
});

test('while a warm-up takes no more first attempts, retries leave and only new mail waits', async () => {
  const retried = await world.accept('x@c.example');
  world.answers.set('127.0.0.11', '451 4.3.0 later');
  const app = await world.deliverFrom([A]);
  world.answers.clear();
  await beginWarmUp(app, 'a', 'careful');
  const day = dayOf(world.clock.now());
  setFirstAttempts(world, { source: 'a', provider: 'other', day, firstAttempts: 20 });
  const waiting = await world.accept('y@c.example');
  let claims = 0;
  const commit: typeof app.db.commit = (write, input) => {
    if (write.name === claimDeliveries.name) claims++;
    return app.db.commit(write, input);
  };
  const watched = { ...app, db: { ...app.db, read: app.db.read, commit } };
  const dispatcher = startDelivering(watched, noReceiver);
  const { queue } = await recipientOf(waiting);
  const waitIn = async () => (await dispatcher.explainWaiting([queue])).get(queue);
  const wait = { reason: 'warm_up', until: (day + 1) * DAY_MS };
  await waitUntil(async () => (await waitIn())?.firstAttempts?.reason === 'warm_up');
  for (let minutes = 0; minutes < 3; minutes++) await world.clock.advance(60_000);
  await waitUntil(() => world.arrived.some(({ to }) => to === 'x@c.example'));
  await waitUntil(async () => (await world.recipient(retried)).status === 'delivered');
  assert.deepEqual(await waitIn(), { firstAttempts: wait, retries: undefined });
  const before = claims;
  await world.accept('z@c.example');
  for (let minutes = 0; minutes < 5; minutes++) await world.clock.advance(60_000);
  assert.equal(claims, before, 'mail that waits for the next day leads to no claim');
  const { status, attempts } = await world.recipient(waiting);
  assert.deepEqual([status, attempts], ['queued', 0]);
  const shown = async () => (await listSources(app))[0]?.warmUp?.providers.at(-1);
  assert.equal((await shown())?.firstAttempts, 20, 'a retry does not count');
  await world.clock.advance(DAY_MS);
  await waitUntil(async () => {
    await world.clock.advance(1_000);
    return (await world.recipient(waiting)).status === 'delivered';
  });
  const stopped = dispatcher.stop(0);
  await world.clock.advance(0);
  await stopped;
  await endWarmUp(app, 'a');
});

test('mail that no pool is for leaves from the address that the system chooses', async () => {
  await world.accept('x@a.example');
  await world.deliverFrom([A], [{ name: 'bulk', sources: ['a'], kind: 'broadcast' }]);
  assert.deepEqual(world.arrived, [{ from: '127.0.0.1', ehlo: 'mx.postrider.example', to: 'x@a.example' }]);
});

test('when a source is unplumbed in the middle, the others of its pool take over and the site is not slowed down', async () => {
  const id = await world.accept('x@a.example');
  const app = await world.deliverFrom([A, B]);
  const [first] = world.arrived;
  assert.ok(first);
  world.unplugged.add(first.from);
  const next = await world.accept('y@a.example');
  await world.deliverFrom([A, B]);
  const [suspension] = await listSuspensions(app.db.read);
  assert.equal(suspension?.address, first.from);
  assert.equal(suspension.reason, 'this machine does not have the address of the source');
  assert.match((await world.recipient(next)).diagnostic, /does not have the address of the source/);
  await world.clock.advance(10_000);
  await world.deliverFrom([A, B]);
  assert.equal((await world.email(next)).status, 'delivered');
  assert.equal((await world.email(id)).status, 'delivered');
  assert.notEqual(world.arrived.at(-1)?.from, first.from);
});

test('a SOCKS server that lies, hangs up or refuses counts against the source, and mail leaves from the others', async () => {
  for (const script of [
    { method: Buffer.from('HTTP/1.1 200 OK\r\n\r\n') },
    { method: Buffer.from([5, 0xff]) },
    { reply: Buffer.from('garbage, and a lot of it') },
  ] satisfies SocksScript[]) {
    const socks = await startSocks(script);
    const pools = [{ name: 'p', sources: ['socks'] }];
    const id = await world.accept('x@a.example');
    const app = await world.deliverFrom([socksAt(socks.port)], pools);
    const [suspension] = await listSuspensions(app.db.read);
    assert.equal(suspension?.source, 'socks');
    assert.match((await world.recipient(id)).diagnostic, /SOCKS/);
    await world.clock.advance(10_000);
    await world.deliverFrom([socksAt(socks.port), A], [{ name: 'p', sources: ['socks', 'a'] }]);
    assert.equal((await world.email(id)).status, 'delivered');
    assert.equal(world.arrived.at(-1)?.from, '127.0.0.11');
    await world.app.db.commit(resumeAddresses, { resumed: [suspension] });
  }
});

test('mail without a source waits: it is not claimed, and is delivered once a source is there', async () => {
  const script: SocksScript = { method: Buffer.from([5, 0xff]) };
  const socks = await startSocks(script);
  await world.accept('x@a.example');
  const app = await world.deliverFrom([socksAt(socks.port)]);
  const id = await world.accept('y@b.example');
  const dispatcher = startDelivering(app, noReceiver);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const waiting = await world.recipient(id);
  assert.deepEqual([waiting.status, waiting.attempts], ['queued', 0]);
  delete script.method;
  script.reply = 'forward';
  await world.clock.advance(60_000);
  await probeSources(app);
  await waitUntil(() => world.arrived.some(({ to }) => to === 'y@b.example'));
  const stopped = dispatcher.stop(0);
  await world.clock.advance(0);
  await stopped;
});

test('a proxy that refuses three hosts in succession is suspended, and one that connects meanwhile is not', async () => {
  const general = Buffer.from([5, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
  const script: SocksScript = { reply: general };
  const socks = await startSocks(script);
  const sources = new Sources({
    ...world.app,
    // The world of this test leads elsewhere, so it dials the addresses themselves.
    dial: (target) => dialLoopback({ ...target, address: '127.0.0.1' }),
    config: {
      ...world.app.config,
      outbound: { ...world.app.config.outbound, sources: [socksAt(socks.port)] },
    },
  });
  const choice = await sources.choose(
    { mode: 'live', kind: 'transactional', tenantId: '', domain: 'a.example', target: undefined },
    [{ name: 'a.example', addresses: ['198.51.100.1'] }],
  );
  assert.ok(choice.kind === 'hosts' && choice.source);
  const dial = sources.dialFrom(choice.source);
  const refuse = (address: string) =>
    assert.rejects(dial({ address, port: 25, timeoutMs: 30_000 }), { name: 'SourceError', fault: 'refused' });
  const suspended = async () => (await listSuspensions(world.app.db.read)).length;
  for (const last of [1, 1, 1, 2]) await refuse(`198.51.100.${last}`);
  assert.equal(await suspended(), 0);
  script.reply = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  (await dial({ address: '198.51.100.1', port: 25, timeoutMs: 30_000 })).destroy();
  script.reply = general;
  for (const last of [3, 4]) await refuse(`198.51.100.${last}`);
  assert.equal(await suspended(), 0);
  await refuse('198.51.100.5');
  assert.equal(await suspended(), 1);
});

test('queues are routed again when a source is suspended, and not for each session that fails with it', async () => {
  const socks = await startSocks({ method: Buffer.from([5, 0xff]) });
  const { config } = world.app;
  const sources = new Sources({
    ...world.app,
    dial: (target) => dialLoopback({ ...target, address: '127.0.0.1' }),
    config: { ...config, outbound: { ...config.outbound, sources: [socksAt(socks.port)] } },
  });
  const queue = {
    mode: 'live',
    kind: 'transactional',
    tenantId: '',
    domain: 'a.example',
    target: undefined,
  } as const;
  const choice = await sources.choose(queue, [{ name: 'a.example', addresses: ['198.51.100.1'] }]);
  assert.ok(choice.kind === 'hosts' && choice.source);
  const dial = sources.dialFrom(choice.source);
  let routed = 0;
  const end = world.app.wakeups.listen('outbound-routes', () => routed++);
  const target = { address: '198.51.100.1', port: 25, timeoutMs: 30_000 };
  const failing = Array.from({ length: 3 }, () => assert.rejects(dial(target), { name: 'SourceError' }));
  await Promise.all(failing);
  end();
  assert.equal(routed, 1);
});

test('a suspended source is used again once a probe finds it, and not before', async () => {
  const script: SocksScript = { method: Buffer.from([5, 0xff]) };
  const socks = await startSocks(script);
  const connections = world.connections();
  await world.accept('x@a.example');
  const app = await world.deliverFrom([socksAt(socks.port)]);
  const heard = socks.heard.length;
  await probeSources(app);
  assert.equal(socks.heard.length, heard, 'it is not probed at once');
  await world.clock.advance(60_000);
  await probeSources(app);
  assert.equal((await listSuspensions(app.db.read)).length, 1);
  assert.ok(socks.heard.length > heard);
  script.method = Buffer.from([5, 0]);
  let routesChanged = 0;
  app.wakeups.listen('outbound-routes', () => routesChanged++);
  await world.clock.advance(60_000);
  await probeSources(app);
  assert.equal((await listSuspensions(app.db.read)).length, 0);
  assert.equal(routesChanged, 1);
  assert.equal(world.connections(), connections, 'no probe goes to a host');
});

test('nothing is probed while nothing may leave, and a suspension ends with the settings that it was for', async () => {
  const socks = await startSocks({ method: Buffer.from([5, 0xff]) });
  await world.accept('x@a.example');
  const app = await world.deliverFrom([socksAt(socks.port)]);
  const heard = socks.heard.length;
  await world.clock.advance(60_000);
  app.egress.hold();
  await probeSources(app);
  app.egress.release();
  assert.equal(socks.heard.length, heard);
  await probeSources({
    ...app,
    config: { ...app.config, outbound: { ...app.config.outbound, sources: [A] } },
  });
  assert.equal((await listSuspensions(app.db.read)).length, 0);
  assert.equal(socks.heard.length, heard);
});

test('an IPv6 address is used once its PTR record and SPF are proven, or when the operator says so', async () => {
  const { app } = world;
  const addresses = ['192.0.2.1', '2001:DB8::1'];
  const hosts = [{ name: 'mx.example', addresses: ['198.51.100.1', '2001:db8::25'] }];
  const queue = {
    mode: 'live',
    kind: 'transactional',
    tenantId: '',
    domain: 'mx.example',
    target: undefined,
  } as const;
  const familiesOf = async (ipv6?: 'always') => {
    const source = { name: 'a', addresses, ehlo: 'a.mx.example', ...(ipv6 && { ipv6 }) };
    const outbound = { ...app.config.outbound, sources: [source] };
    const choice = await new Sources({ ...app, dns: world.dns, config: { ...app.config, outbound } }).choose(
      queue,
      hosts,
    );
    return choice.kind === 'hosts' ? choice.hosts[0]?.addresses : choice;
  };
  const both = ['198.51.100.1', '2001:db8::25'];
  assert.deepEqual(await familiesOf('always'), both);
  assert.deepEqual(await familiesOf(), ['198.51.100.1']);
  const reverse = `${'1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2'}.ip6.arpa`;
  world.addZone(`${reverse} PTR a.mx.example`);
  assert.deepEqual(await familiesOf(), ['198.51.100.1'], 'the name does not lead back');
  world.addZone('a.mx.example AAAA 2001:db8::1');
  assert.deepEqual(await familiesOf(), ['198.51.100.1'], 'SPF says nothing');
  world.addZone('bounce.mx.postrider.example TXT "v=spf1 ip6:2001:db8::1 -all"');
  assert.deepEqual(await familiesOf(), both);
});

test('an address is proven however DNS and the configuration shorten it', async () => {
  const address = '2001:db8:0:0:1::';
  const reverse = `${'0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2'}.ip6.arpa`;
  world.addZone(`${reverse} PTR s.mx.example\ns.mx.example AAAA 2001:db8::1:0:0:0`);
  const returnPath = 's-bounce.example';
  world.addZone(`${returnPath} TXT "v=spf1 ip6:${address} -all"`);
  assert.deepEqual(await proveAddress(world.dns, { address, ehlo: 's.mx.example', returnPath }), {
    kind: 'proven',
  });
});

test('DNS is asked for a proof once, also when it does not answer, and again half a minute later', async () => {
  const { app, clock } = world;
  let questions = 0;
  const ptr = async () => {
    questions++;
    return { kind: 'failed', reason: 'ETIMEOUT' } as const;
  };
  const source = { name: 'a', addresses: ['192.0.2.1', '2001:db8::77'], ehlo: 'a.mx.example' };
  const config = { ...app.config, outbound: { ...app.config.outbound, sources: [source] } };
  const sources = new Sources({ ...app, dns: { ...world.dns, ptr }, config });
  const choose = (domain: string) =>
    sources.choose({ mode: 'live', kind: 'transactional', tenantId: '', domain, target: undefined }, [
      { name: 'mx.example', addresses: ['198.51.100.1', '2001:db8::25'] },
    ]);
  await Promise.all([choose('a.example'), choose('b.example')]);
  await choose('c.example');
  assert.equal(questions, 1);
  await clock.advance(30_000);
  await choose('a.example');
  assert.equal(questions, 2);
});

test('a suspended source is probed although the clock was set back', async () => {
  world.unplugged.add('127.0.0.11');
  await world.accept('x@a.example');
  const app = await world.deliverFrom([A]);
  assert.equal((await listSuspensions(app.db.read)).length, 1);
  const { clock } = app;
  await probeSources({ ...app, clock: { ...clock, now: () => clock.now() - 24 * 3_600_000 } });
  assert.equal((await listSuspensions(app.db.read)).length, 0);
});

test('while a rule lets a source rest at a receiver, its mail leaves from another source of its pool', async () => {
  await world.accept('x@c.example');
  const app = await world.deliverFrom([A, B]);
  const own = world.arrived[0]?.from;
  const [name, other] = own === '127.0.0.11' ? ['a', '127.0.0.12'] : ['b', '127.0.0.11'];
  const dispatcher = startDelivering(app, noReceiver, {
    rules: {
      table: new RuleTable(
        parseRules(
          'rules: [{ id: blocked, text: blocked, matches: 1, within: 1h, on: source, rest: true, for: 1h, source: a test }]',
        ),
      ),
    },
  });
  world.answers.set(own ?? '', '450 4.7.0 this address is blocked');
  const id = await world.accept('y@c.example');
  await waitUntil(async () => (await world.recipient(id)).status === 'deferred');
  const next = await world.accept('z@c.example');
  await waitUntil(async () => (await world.recipient(next)).status === 'delivered');
  assert.equal(world.arrived.at(-1)?.from, other, `${name} rests`);
  world.answers.clear();
  const stopped = dispatcher.stop(0);
  await world.clock.advance(0);
  await stopped;
  await world.app.db.commit(deleteRestriction, { id: (await listRestrictions(app.db.read, 0))[0]?.id ?? '' });
});

test('domains that get mail over IPv4 alone wait while they have no such address', async () => {
  world.addZone('six.example AAAA 2001:db8::25');
  const id = await world.accept('x@six.example');
  await world.deliverFrom([], [], { ipv4Only: ['six.example'] });
  assert.match((await world.recipient(id)).diagnostic, /six\.example gets mail over IPv4 alone/);
  assert.ok(!world.arrived.some(({ to }) => to === 'x@six.example'));
});
