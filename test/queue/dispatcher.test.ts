import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Db } from '../../src/db/database.ts';
import { Dispatcher } from '../../src/queue/dispatcher.ts';
import { listDueQueues } from '../../src/queue/due-store.ts';
import { recoverQueue, startDelivering } from '../../src/queue/worker.ts';
import type { DnsLookups } from '../../src/system/dns.ts';
import { closeAfterEach } from '../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../support/command-server.ts';
import type { Hosts } from '../support/loopback.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { deliveryAppOf, noReceiver, type Spool } from '../support/spool.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openRoutedSpool } from './routed-spool.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const closing = closeAfterEach();

const openWorld = async (hosts: Hosts, connections?: number) =>
  closing(await openRoutedSpool(hosts, connections));
const openSink = async () => closing(await startSmtpSink());

/** Opens a spool in which rcpt.example is at a host with this port. */
async function openWorldAt(port: number, connections?: number) {
  const spool = await openWorld({ '192.0.2.1': port }, connections);
  spool.addZone('rcpt.example A 192.0.2.1');
  return spool;
}

/** A server without pipelining that says 421 to the MAIL after so many messages of a connection. */
async function startServerOfFewMessages(messages: number) {
  const taken = new Map<Socket, number>();
  const server = await startCommandServer((line, socket) => {
    const count = taken.get(socket) ?? 0;
    if (line === '.') taken.set(socket, count + 1);
    return line.startsWith('MAIL') && count === messages
      ? '421 4.7.0 enough for one connection'
      : acceptEverything(line);
  });
  return closing(server);
}

/** A server that takes the first `commands` commands of each connection and then hangs up. */
async function startFickleServer(commands: number) {
  const answered = new Map<Socket, number>();
  const server = await startCommandServer((line, socket) => {
    const count = (answered.get(socket) ?? 0) + 1;
    answered.set(socket, count);
    return count > commands ? undefined : acceptEverything(line);
  });
  return closing(server);
}

/** A server that pipelines, takes one message, and does not say so until it is told to. */
async function startSlowServer() {
  let waiting: Socket | undefined;
  const server = await startCommandServer((line, socket) => {
    if (line.startsWith('EHLO')) return '250-slow.example\r\n250 PIPELINING';
    if (line !== '.') return acceptEverything(line);
    waiting = socket;
    return '';
  });
  return closing({
    ...server,
    isAsked: () => waiting !== undefined,
    answer: () => void waiting?.write('250 taken\r\n'),
  });
}

/** Starts a dispatcher that stops after the tests, without waiting for what is on its way. */
function start(spool: Spool, app = spool.app): { halt(): Promise<void> } {
  const dispatcher = startDelivering(app, noReceiver);
  async function halt() {
    const stopped = dispatcher.stop(0);
    await spool.clock.advance(0);
    await stopped;
  }
  return closing({ halt, close: halt });
}

/** The database of the spool, with another answer to what is due. */
function withDueQueues({ app }: Spool, listQueues: () => Promise<string[]>): Db {
  const query = async () => (await listQueues()).map((key) => ({ key, hasRetries: false }));
  return { ...app.db, query: query as unknown as Db['query'] };
}

/** Waits for actions that must not happen. */
async function settle(): Promise<void> {
  for (let rounds = 0; rounds < 100; rounds++) await turn();
}

/** Returns the recipients that have no outcome. */
function waitingOf({ app }: Spool) {
  return app.db.read
    .selectFrom('recipients')
    .select(['state', 'attempts'])
    .where('state', 'in', ['ready', 'deferred', 'in_flight'])
    .execute();
}

async function attemptsOf(spool: Spool, id: string): Promise<number[]> {
  return (await spool.email(id)).recipients.map((recipient: { attempts: number }) => recipient.attempts);
}

test('a site that hangs delays no other site, however much mail waits for it', async () => {
  const sink = await openSink();
  const spool = await openWorld({ '192.0.2.1': 'hangs', '192.0.2.2': sink.port });
  spool.addZone('dead.example A 192.0.2.1\nalive.example A 192.0.2.2');
  await spool.acceptMany(50, 'dead.example');
  await spool.accept('bob@alive.example');
  start(spool);
  await waitUntil(() => sink.messages.length === 1);
});

test('the connections to a new site, and to all sites together, are limited', async () => {
  const spool = await openWorld({ '192.0.2.1': 'hangs', '192.0.2.2': 'hangs', '192.0.2.3': 'hangs' }, 9);
  spool.addZone('one.example A 192.0.2.1\ntwo.example A 192.0.2.2\nthree.example A 192.0.2.3');
  for (const domain of ['one', 'two', 'three']) {
    for (let index = 0; index < 10; index++) await spool.accept(`user${index}@${domain}.example`);
  }
  start(spool);
  await waitUntil(() => spool.dialled.length === 5);
  for (let rounds = 0; rounds < 200; rounds++) await turn();
  const counts = Map.groupBy(spool.dialled, (address) => address);
  assert.equal(spool.dialled.length, 5);
  assert.equal(counts.size, 3, 'each site has its share');
  assert.ok([...counts.values()].every((times) => times.length <= 2));
});

test('recipients at domains with the same hosts travel in one transaction', async () => {
  const sink = await openSink();
  const spool = await openWorld({ '192.0.2.1': sink.port });
  spool.addZone(
    'one.example MX 10 mx.example\ntwo.example MX 10 mx.example\nmx.example A 192.0.2.1\n' +
      'other.example A 192.0.2.1',
  );
  const id = await spool.accept(['a@one.example', 'b@two.example', 'c@other.example']);
  await spool.deliverDue();
  assert.equal((await spool.email(id)).status, 'delivered');
  const recipients = sink.messages.map((message) => message.recipients);
  assert.deepEqual(recipients.sort(), [['a@one.example', 'b@two.example'], ['c@other.example']]);
});

test('a message with more recipients at a site than a transaction takes goes in several', async () => {
  const sink = await openSink();
  const spool = await openWorldAt(sink.port);
  const list = (field: string) => Array.from({ length: 50 }, (_, index) => `${field}${index}@rcpt.example`);
  const id = await spool.accept(list('to'), { cc: list('cc') });
  await spool.deliverDue();
  assert.equal((await spool.email(id)).status, 'delivered');
  assert.deepEqual(
    sink.messages.map((message) => message.recipients.length),
    [50, 50],
  );
});

test('one connection carries several messages, and is left after a hundred', async () => {
  const sink = await openSink();
  const spool = await openWorldAt(sink.port, 1);
  await spool.acceptMany(101, 'rcpt.example');
  await spool.deliverDue();
  assert.deepEqual([sink.messages.length, sink.connections()], [101, 2]);
});

test('a host that limits the messages of a connection gets a new connection, and no attempt is lost', async () => {
  const perConnection = 3;
  const { port, connections } = await startServerOfFewMessages(perConnection);
  const spool = await openWorldAt(port, 1);
  const ids = await spool.acceptMany(9, 'rcpt.example');
  await spool.deliverDue();
  for (const id of ids) {
    assert.equal((await spool.email(id)).status, 'delivered');
    assert.deepEqual(await attemptsOf(spool, id), [1]);
  }
  assert.equal(connections(), 3);
});

test('when a host disconnects in the middle, the next host is tried, and the attempt counts once', async () => {
  const sink = await openSink();
  const fickle = await startFickleServer(2);
  const spool = await openWorld({ '192.0.2.1': fickle.port, '192.0.2.2': sink.port });
  spool.addZone(
    'rcpt.example MX 10 a.example\nrcpt.example MX 20 b.example\na.example A 192.0.2.1\nb.example A 192.0.2.2',
  );
  const id = await spool.accept('bob@rcpt.example');
  await spool.deliverDue();
  assert.equal((await spool.email(id)).status, 'delivered');
  assert.deepEqual(await attemptsOf(spool, id), [1]);
  assert.equal(sink.messages.length, 1);
});

test('mail for a host that always disconnects is deferred', async () => {
  const spool = await openWorld({ '192.0.2.1': (await startFickleServer(2)).port });
  spool.addZone('rcpt.example A 192.0.2.1');
  const id = await spool.accept('bob@rcpt.example');
  await spool.deliverDue();
  assert.equal((await spool.recipient(id)).status, 'deferred');
  assert.ok(spool.dialled.length < 10);
});

test('the mail of a site that cannot be reached waits without an attempt, and one message tries the site every 45 seconds', async () => {
  const sink = await openSink();
  const hosts: Hosts = {};
  const spool = await openWorld(hosts);
  spool.addZone('rcpt.example A 192.0.2.1');
  start(spool);
  const ids = await spool.acceptMany(20, 'rcpt.example');
  await waitUntil(async () => (await waitingOf(spool)).every(({ state }) => state !== 'in_flight'));
  const dialled = spool.dialled.length;
  assert.ok(dialled >= 5 && dialled <= 7, `dialled ${dialled} times for 20 messages`);
  const untried = (await waitingOf(spool)).filter(({ attempts }) => attempts === 0);
  assert.ok(untried.length >= 10, `${untried.length} were not tried`);
  for (let probes = 1; probes <= 3; probes++) {
    await spool.clock.advance(44_999);
    await settle();
    const before = spool.dialled.length;
    await spool.clock.advance(1);
    await waitUntil(() => spool.dialled.length > before);
    await waitUntil(async () => (await waitingOf(spool)).every(({ state }) => state !== 'in_flight'));
    assert.equal(spool.dialled.length, before + 1, 'one message tries the site');
  }
  hosts['192.0.2.1'] = sink.port;
  await spool.clock.advance(45_000);
  await waitUntil(() => sink.messages.length >= untried.length - 3);
  assert.ok(ids.length >= sink.messages.length);
});

test('scheduled mail leaves when it is due, dated then, and not before', async () => {
  const sink = await openSink();
  const spool = await openWorldAt(sink.port);
  start(spool);
  const dueAt = spool.clock.now() + HOUR_MS;
  const id = await spool.accept('bob@rcpt.example', { scheduledAt: new Date(dueAt).toISOString() });
  await spool.clock.advance(HOUR_MS - 1);
  await spool.settled();
  assert.equal((await spool.email(id)).status, 'queued');
  await spool.clock.advance(1);
  await waitUntil(async () => (await spool.email(id)).status === 'delivered');
});

test('scheduled mail of a domain that is no longer verified bounces with that reason, also to the simulator', async () => {
  const spool = await openWorld({});
  spool.addZone('rcpt.example A 192.0.2.1');
  const dueAt = spool.clock.now() + 200 * HOUR_MS;
  const to = ['bob@rcpt.example', 'delivered@simulator.mx.postrider.example'];
  const id = await spool.accept(to, { scheduledAt: new Date(dueAt).toISOString() });
  const domainId = (await spool.request('GET', '/v1/domains', { key: spool.liveKey })).body.data[0].id;
  spool.dns.setZone('rcpt.example A 192.0.2.1');
  for (let checks = 0; checks < 2; checks++) {
    await spool.clock.advance(90 * HOUR_MS);
    await spool.request('POST', `/v1/domains/${domainId}/verify`, { key: spool.liveKey });
  }
  await spool.clock.advance(21 * HOUR_MS);
  // A crash before it was sent does not make it a retry.
  await spool.claim('an earlier start');
  await recoverQueue(spool.app);
  await spool.clock.advance(10_000);
  await spool.deliverDue();
  const email = await spool.email(id);
  assert.equal(email.status, 'bounced');
  for (const { diagnostic } of email.recipients) assert.match(diagnostic, /no longer verified/);
  assert.equal(spool.dialled.length, 0);
});

test('a stopping dispatcher delivers claimed mail and claims no more', async () => {
  const sink = await openSink();
  const spool = await openWorldAt(sink.port, 1);
  await spool.acceptMany(60, 'rcpt.example');
  const dispatcher = startDelivering(spool.app, noReceiver);
  await waitUntil(() => sink.messages.length >= 1);
  await dispatcher.stop(30_000);
  const inFlight = await spool.app.db.read
    .selectFrom('recipients')
    .select('id')
    .where('state', '=', 'in_flight')
    .execute();
  assert.equal(inFlight.length, 0);
  assert.ok(sink.messages.length < 60);
});

test('mail of one tenant does not wait behind the mail of another for the same site', async () => {
  const sink = await openSink();
  const spool = await openWorldAt(sink.port, 1);
  await spool.acceptMany(40, 'rcpt.example');
  const topic = await spool.request('POST', '/v1/topics', { key: spool.liveKey, body: { name: 'News' } });
  const letter = { type: 'broadcast', topicId: topic.body.id };
  for (let index = 0; index < 20; index++) await spool.accept(`letter${index}@rcpt.example`, letter);
  await spool.deliverDue();
  const order = sink.messages.map((message) => message.recipients[0] ?? '');
  const firstLetter = order.findIndex((address) => address.startsWith('letter'));
  assert.ok(firstLetter < 10, `the first broadcast came as number ${firstLetter}`);
  const among20 = order.slice(0, 20).filter((address) => address.startsWith('letter')).length;
  assert.ok(among20 <= 6, `${among20} broadcasts among the first 20`);
});

test('urgent mail takes a step when it is due, claimed and sent, and copies of broadcasts take none', async () => {
  const sink = await openSink();
  const spool = await openWorldAt(sink.port);
  let steps = 0;
  const precedence = { step: () => void steps++ };
  const dispatcher = new Dispatcher({ ...deliveryAppOf(spool.app), precedence });
  dispatcher.start();
  const topic = await spool.request('POST', '/v1/topics', { key: spool.liveKey, body: { name: 'News' } });
  await spool.accept('letter@rcpt.example', { type: 'broadcast', topicId: topic.body.id });
  await waitUntil(() => sink.messages.length === 1);
  assert.equal(steps, 0);
  await spool.accept('other@rcpt.example');
  await waitUntil(() => sink.messages.length === 2);
  assert.equal(steps, 3);
  const stopped = dispatcher.stop(0);
  await spool.clock.advance(0);
  await stopped;
});

test('domains are looked up a few at a time, and a tenant with many of them leaves lookups to the others', async () => {
  const spool = await openWorld({});
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const mx: DnsLookups['mx'] = (name) => {
    asked.push(name);
    return new Promise((resolve) => answers.push(() => resolve({ kind: 'no-name' })));
  };
  const queues = Array.from({ length: 1_000 }, (_, index) => `live transactional ten_1 d${index}.example`);
  const dns = { ...spool.dns, mx };
  start(spool, { ...spool.app, dns, db: withDueQueues(spool, async () => queues) });
  await waitUntil(() => asked.length > 0);
  assert.equal(asked.length, 48);
  answers[0]?.();
  await waitUntil(() => asked.length === 49);
  queues.push('live transactional ten_2 other.example');
  spool.app.wakeups.notify('queue');
  await waitUntil(() => asked.includes('other.example'));
  assert.equal(asked.length, 50);
});

test('new mail is delivered without a scan, and scheduled mail is found by one', async () => {
  const sink = await openSink();
  const spool = await openWorld({ '192.0.2.1': sink.port });
  spool.addZone('new.example A 192.0.2.1');
  let scans = 0;
  const db: Db = {
    ...spool.app.db,
    query(read, input) {
      if (read.name === listDueQueues.name) scans += 1;
      return spool.app.db.query(read, input);
    },
  };
  start(spool, { ...spool.app, db });
  await waitUntil(() => scans === 1);
  for (const to of ['a@new.example', ['b@new.example', 'c@new.example']]) await spool.accept(to);
  await waitUntil(() => sink.messages.length === 2);
  assert.equal(scans, 1);
  const scheduledAt = new Date(spool.clock.now() + HOUR_MS).toISOString();
  await spool.accept('d@new.example', { scheduledAt });
  await waitUntil(() => scans === 2);
  await spool.clock.advance(HOUR_MS);
  await waitUntil(() => sink.messages.length === 3);
});

test('a wake-up that comes as the dispatcher begins to sleep wakes it', async () => {
  const spool = await openWorld({});
  for (let microtasks = 0; microtasks < 40; microtasks++) {
    let scans = 0;
    const db = withDueQueues(spool, async () => {
      if (++scans > 1) return [];
      let arrival = Promise.resolve();
      for (let count = 0; count < microtasks; count++) arrival = arrival.then(() => {});
      void arrival.then(() => spool.app.wakeups.notify('queue'));
      return [];
    });
    const dispatcher = start(spool, { ...spool.app, db });
    await turn();
    assert.ok(scans >= 2, `${scans} scans, with a wake-up after ${microtasks} microtasks`);
    await dispatcher.halt();
  }
});

test('a connection that is given up for another site is gone before the other one is opened', async () => {
  const slow = await startSlowServer();
  const spool = await openWorld({ '192.0.2.1': slow.port, '192.0.2.2': 'hangs' }, 1);
  spool.addZone('slow.example A 192.0.2.1\nother.example A 192.0.2.2');
  const id = await spool.accept('bob@slow.example');
  start(spool);
  await waitUntil(() => slow.isAsked());
  await spool.accept('bob@other.example');
  for (let rounds = 0; rounds < 200; rounds++) await turn();
  assert.deepEqual(spool.dialled, ['192.0.2.1']);
  slow.answer();
  await waitUntil(() => spool.dialled.includes('192.0.2.2'));
  assert.equal((await spool.email(id)).status, 'delivered');
});

test('a site keeps its connections while nobody else waits for one', async () => {
  const sink = await openSink();
  const spool = await openWorld({ '192.0.2.1': sink.port, '192.0.2.2': 'hangs' }, 3);
  spool.addZone('rcpt.example A 192.0.2.1\nhangs.example A 192.0.2.2');
  await spool.accept('bob@hangs.example');
  await spool.acceptMany(20, 'rcpt.example');
  start(spool);
  await waitUntil(() => sink.messages.length === 20);
  assert.ok(sink.connections() <= 4, `${sink.connections()} connections`);
});

test('mail that is unsent when the time to stop is up is put back, and mail that is being sent stays in flight', async () => {
  const slow = await startSlowServer();
  const spool = await openWorld({ '192.0.2.1': slow.port, '192.0.2.2': 'hangs' });
  spool.addZone('slow.example A 192.0.2.1\nhangs.example A 192.0.2.2');
  await spool.accept('bob@slow.example');
  await spool.acceptMany(4, 'hangs.example');
  const { halt } = start(spool);
  await waitUntil(() => slow.isAsked() && spool.dialled.includes('192.0.2.2'));
  await halt();
  const rows = await spool.app.db.read
    .selectFrom('recipients')
    .select(['domain', 'state', 'interruptedAttempts'])
    .orderBy('domain')
    .execute();
  assert.deepEqual(rows, [
    ...Array(4).fill({ domain: 'hangs.example', state: 'ready', interruptedAttempts: 0 }),
    { domain: 'slow.example', state: 'in_flight', interruptedAttempts: 0 },
  ]);
});
