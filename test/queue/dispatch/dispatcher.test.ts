import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Db } from '../../../src/db/database.ts';
import { listDueQueues } from '../../../src/queue/due/store.ts';
import { recoverQueue, startDelivering } from '../../../src/queue/worker.ts';
import { createTargetGuard } from '../../../src/system/blocklist.ts';
import { createDial, type Dial } from '../../../src/system/dial.ts';
import type { DnsLookups } from '../../../src/system/dns.ts';
import { pause } from '../../support/pause.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { eventTypes, openSpool, type Spool } from '../../support/spool.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const opened: { close(): unknown }[] = [];
after(async () => {
  for (const one of opened) await one.close();
});

/** Real sockets take real time, and none of it is long. */
const CLOCKLESS = { now: Date.now, elapsed: () => performance.now(), after: () => ({ cancel() {} }) };
const toLoopback = createDial(createTargetGuard({ allow: ['127.0.0.0/8'], own: [] }), CLOCKLESS);

type Hosts = Record<string, number | 'refuses' | 'hangs'>;

/** Every address of the zone is thought to be somewhere; `hosts` says which port of this machine it stands for. */
async function openWorld(hosts: Hosts, env: Record<string, string> = {}) {
  const dialled: string[] = [];
  const dial: Dial = (target) => {
    dialled.push(target.address);
    const host = hosts[target.address] ?? 'refuses';
    if (host === 'refuses') return Promise.reject(new Error('ECONNREFUSED'));
    if (host === 'hangs') return new Promise(() => {});
    return toLoopback({ ...target, address: '127.0.0.1', port: host });
  };
  const spool = await openSpool({ system: { dial }, env });
  opened.push(spool);
  return { spool, dialled };
}

async function openSink() {
  const sink = await startSmtpSink();
  opened.push(sink);
  return sink;
}

/** A server without pipelining that says 421 to the MAIL after so many messages of a connection. */
async function startThriftyServer(messages: number): Promise<{ port: number; connections(): number }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let taken = 0;
    let inBody = false;
    socket.on('error', () => {});
    socket.write('220 thrifty.example ESMTP\r\n');
    socket.on('data', (data) => {
      const text = data.toString('latin1');
      if (inBody) {
        if (!text.endsWith('\r\n.\r\n')) return;
        inBody = false;
        taken++;
        socket.write('250 taken\r\n');
      } else if (text.startsWith('MAIL') && taken === messages) {
        socket.end('421 4.7.0 enough for one connection\r\n');
      } else {
        inBody = text.startsWith('DATA');
        socket.write(inBody ? '354 go on\r\n' : '250 ok\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push({
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.length };
}

/** A server that takes the first `commands` commands of each connection and then hangs up. */
async function startFickleServer(commands: number): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let answered = 0;
    socket.on('error', () => {});
    socket.write('220 fickle.example ESMTP\r\n');
    socket.on('data', () => {
      if (++answered > commands) socket.destroy();
      else socket.write('250 ok\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push({
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

/** A server that pipelines, takes one message, and does not say so until it is told to. */
async function startSlowServer() {
  let waiting: Socket | undefined;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 slow.example ESMTP\r\n');
    socket.on('data', (data) => {
      const text = data.toString('latin1');
      if (text.startsWith('EHLO')) socket.write('250-slow.example\r\n250 PIPELINING\r\n');
      else if (text.startsWith('MAIL')) socket.write('250 ok\r\n250 ok\r\n354 go on\r\n');
      else if (text.endsWith('\r\n.\r\n')) waiting = socket;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push({
    close() {
      waiting?.destroy();
      server.close();
    },
  });
  return {
    port: (server.address() as AddressInfo).port,
    isAsked: () => waiting !== undefined,
    answer: () => void waiting?.write('250 taken\r\n'),
  };
}

/** The database of the spool, with another answer to what is due. */
function withDueQueues({ app }: Spool, listQueues: () => Promise<string[]>): Db {
  return { ...app.db, query: listQueues as Db['query'] };
}

/** Only a test that fails waits this long. */
const PATIENCE_MS = 30_000;

/** Real input and output decide when; the fake clock stands still. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    if (await condition()) return;
    await pause();
  }
  assert.fail('it never came to pass');
}

/** Without waiting for what is on its way. */
async function halt(spool: Spool, dispatcher: { stop(graceMs: number): Promise<void> }): Promise<void> {
  const stopped = dispatcher.stop(0);
  await spool.clock.advance(0);
  await stopped;
}

async function attemptsOf(spool: Spool, id: string): Promise<number[]> {
  return (await spool.email(id)).recipients.map((recipient: { attempts: number }) => recipient.attempts);
}

test('a site that hangs holds up nobody else, however much waits for it', async () => {
  const sink = await openSink();
  const { spool } = await openWorld({ '192.0.2.1': 'hangs', '192.0.2.2': sink.port });
  spool.addZone('dead.example A 192.0.2.1\nalive.example A 192.0.2.2');
  for (let index = 0; index < 200; index++) await spool.accept(`user${index}@dead.example`);
  await spool.accept('bob@alive.example');
  const dispatcher = startDelivering(spool.app);
  await until(() => sink.messages.length === 1);
  await halt(spool, dispatcher);
});

test('connections are few to a site at first, and to all of them together', async () => {
  const { spool, dialled } = await openWorld(
    { '192.0.2.1': 'hangs', '192.0.2.2': 'hangs', '192.0.2.3': 'hangs' },
    { POSTRIDER_DELIVERY_CONNECTIONS: '9' },
  );
  spool.addZone('one.example A 192.0.2.1\ntwo.example A 192.0.2.2\nthree.example A 192.0.2.3');
  for (const domain of ['one', 'two', 'three']) {
    for (let index = 0; index < 10; index++) await spool.accept(`user${index}@${domain}.example`);
  }
  const dispatcher = startDelivering(spool.app);
  await until(() => dialled.length === 5);
  for (let rounds = 0; rounds < 200; rounds++) await turn();
  const counts = Map.groupBy(dialled, (address) => address);
  assert.equal(dialled.length, 5);
  assert.equal(counts.size, 3, 'each site has its share');
  assert.ok([...counts.values()].every((times) => times.length <= 2));
  await halt(spool, dispatcher);
});

test('recipients at domains with the same hosts travel in one transaction', async () => {
  const sink = await openSink();
  const { spool } = await openWorld({ '192.0.2.1': sink.port });
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
  const { spool } = await openWorld({ '192.0.2.1': sink.port });
  spool.addZone('rcpt.example A 192.0.2.1');
  const list = (field: string) => Array.from({ length: 50 }, (_, index) => `${field}${index}@rcpt.example`);
  const id = await spool.accept(list('to'), { cc: list('cc') });
  await spool.deliverDue();
  assert.equal((await spool.email(id)).status, 'delivered');
  assert.deepEqual(
    sink.messages.map((message) => message.recipients.length),
    [50, 50],
  );
});

test('one connection takes message after message', async () => {
  const sink = await openSink();
  const { spool } = await openWorld({ '192.0.2.1': sink.port }, { POSTRIDER_DELIVERY_CONNECTIONS: '1' });
  spool.addZone('rcpt.example A 192.0.2.1');
  for (let index = 0; index < 30; index++) await spool.accept(`user${index}@rcpt.example`);
  await spool.deliverDue();
  assert.equal(sink.messages.length, 30);
  assert.ok(sink.connections() <= 2, `${sink.connections()} connections`);
});

test('a connection is left after a hundred messages', async () => {
  const sink = await openSink();
  const { spool } = await openWorld({ '192.0.2.1': sink.port }, { POSTRIDER_DELIVERY_CONNECTIONS: '1' });
  spool.addZone('rcpt.example A 192.0.2.1');
  for (let index = 0; index < 101; index++) await spool.accept(`user${index}@rcpt.example`);
  await spool.deliverDue();
  assert.equal(sink.messages.length, 101);
  assert.ok(sink.connections() >= 2);
});

test('a host that takes so many messages of a connection gets a new one, and no attempt is lost', async () => {
  const perConnection = 3;
  const { port, connections } = await startThriftyServer(perConnection);
  const { spool } = await openWorld({ '192.0.2.1': port }, { POSTRIDER_DELIVERY_CONNECTIONS: '1' });
  spool.addZone('rcpt.example A 192.0.2.1');
  const ids: string[] = [];
  for (let index = 0; index < 9; index++) ids.push(await spool.accept(`user${index}@rcpt.example`));
  await spool.deliverDue();
  for (const id of ids) {
    assert.equal((await spool.email(id)).status, 'delivered');
    assert.deepEqual(await attemptsOf(spool, id), [1]);
  }
  assert.equal(connections(), 3);
});

test('a host that hangs up in the middle passes on to the next one, and the attempt counts once', async () => {
  const sink = await openSink();
  const fickle = await startFickleServer(2);
  const { spool } = await openWorld({ '192.0.2.1': fickle, '192.0.2.2': sink.port });
  spool.addZone(
    'rcpt.example MX 10 a.example\nrcpt.example MX 20 b.example\na.example A 192.0.2.1\nb.example A 192.0.2.2',
  );
  const id = await spool.accept('bob@rcpt.example');
  await spool.deliverDue();
  assert.equal((await spool.email(id)).status, 'delivered');
  assert.deepEqual(await attemptsOf(spool, id), [1]);
  assert.equal(sink.messages.length, 1);
});

test('a host that always hangs up defers the mail', async () => {
  const { spool, dialled } = await openWorld({ '192.0.2.1': await startFickleServer(2) });
  spool.addZone('rcpt.example A 192.0.2.1');
  const id = await spool.accept('bob@rcpt.example');
  await spool.deliverDue();
  assert.equal((await spool.email(id)).recipients[0].status, 'deferred');
  assert.ok(dialled.length < 10);
});

test('a site that cannot be reached is suspended: its mail waits without being tried, and one tries again', async () => {
  const { spool, dialled } = await openWorld({ '192.0.2.1': 'refuses' });
  spool.addZone('rcpt.example A 192.0.2.1');
  const dispatcher = startDelivering(spool.app);
  opened.unshift({ close: () => halt(spool, dispatcher) });
  const ids: string[] = [];
  for (let index = 0; index < 20; index++) ids.push(await spool.accept(`user${index}@rcpt.example`));
  await spool.settled();
  assert.ok(dialled.length >= 5 && dialled.length <= 7, `dialled ${dialled.length} times for 20 messages`);
  const emails = await Promise.all(ids.map((id) => spool.email(id)));
  assert.ok(emails.every((email) => email.recipients[0].status === 'deferred'));
  assert.ok(emails.some((email) => /^Not tried, after \d+ failures/.test(email.recipients[0].diagnostic)));
  const before = dialled.length;
  await spool.clock.advance(4 * MINUTE_MS);
  await spool.settled();
  const tried = dialled.length - before;
  assert.ok(tried >= 1 && tried <= 4, `${tried} tried for the others`);
});

test('scheduled mail leaves when it is due, dated then, and not before', async () => {
  const sink = await openSink();
  const { spool } = await openWorld({ '192.0.2.1': sink.port });
  spool.addZone('rcpt.example A 192.0.2.1');
  const dispatcher = startDelivering(spool.app);
  opened.unshift({ close: () => halt(spool, dispatcher) });
  const dueAt = spool.clock.now() + HOUR_MS;
  const id = await spool.accept('bob@rcpt.example', { scheduledAt: new Date(dueAt).toISOString() });
  await spool.clock.advance(HOUR_MS - 1);
  await spool.settled();
  assert.equal((await spool.email(id)).status, 'queued');
  await spool.clock.advance(1);
  await until(async () => (await spool.email(id)).status === 'delivered');
});

test('scheduled mail of a domain that is no longer verified bounces with that reason, also to the simulator', async () => {
  const { spool, dialled } = await openWorld({});
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
  assert.equal(dialled.length, 0);
});

test('canceled mail is not sent, and has a story', async () => {
  const { spool, dialled } = await openWorld({});
  spool.addZone('rcpt.example A 192.0.2.1');
  const id = await spool.accept('bob@rcpt.example');
  const canceled = await spool.request('POST', `/v1/emails/${id}/cancel`, { key: spool.liveKey });
  assert.deepEqual([canceled.status, canceled.body.status], [200, 'canceled']);
  await spool.deliverDue();
  assert.equal(dialled.length, 0);
  assert.deepEqual(eventTypes(await spool.email(id)), ['email.queued', 'email.canceled']);
});

test('mail that is already on its way cannot be canceled', async () => {
  const { spool } = await openWorld({});
  const id = await spool.accept('bob@rcpt.example');
  await spool.claim();
  const refused = await spool.request('POST', `/v1/emails/${id}/cancel`, { key: spool.liveKey });
  assert.deepEqual([refused.status, refused.body.error.type], [409, 'invalid_state']);
});

test('stopping finishes what is claimed and claims nothing more', async () => {
  const sink = await openSink();
  const { spool } = await openWorld({ '192.0.2.1': sink.port }, { POSTRIDER_DELIVERY_CONNECTIONS: '1' });
  spool.addZone('rcpt.example A 192.0.2.1');
  for (let index = 0; index < 60; index++) await spool.accept(`user${index}@rcpt.example`);
  const dispatcher = startDelivering(spool.app);
  await until(() => sink.messages.length >= 1);
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
  const { spool } = await openWorld({ '192.0.2.1': sink.port }, { POSTRIDER_DELIVERY_CONNECTIONS: '1' });
  spool.addZone('rcpt.example A 192.0.2.1');
  for (let index = 0; index < 100; index++) await spool.accept(`bulk${index}@rcpt.example`);
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

test('domains are looked up a few at a time, and a tenant with many of them leaves lookups to the others', async () => {
  const { spool } = await openWorld({});
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const mx: DnsLookups['mx'] = (name) => {
    asked.push(name);
    return new Promise((resolve) => answers.push(() => resolve({ kind: 'no-name' })));
  };
  const queues = Array.from({ length: 1_000 }, (_, index) => `live transactional ten_1 d${index}.example`);
  const dns = { ...spool.dns, mx };
  const dispatcher = startDelivering({ ...spool.app, dns, db: withDueQueues(spool, async () => queues) });
  await until(() => asked.length > 0);
  assert.equal(asked.length, 48);
  answers[0]?.();
  await until(() => asked.length === 49);
  queues.push('live transactional ten_2 other.example');
  spool.app.wakeups.notify('queue');
  await until(() => asked.includes('other.example'));
  assert.equal(asked.length, 50);
  await halt(spool, dispatcher);
});

test('new mail is delivered without a scan, and scheduled mail is found by one', async () => {
  const sink = await openSink();
  const { spool } = await openWorld({ '192.0.2.1': sink.port });
  spool.addZone('new.example A 192.0.2.1');
  let scans = 0;
  const db: Db = {
    ...spool.app.db,
    query(read, input) {
      if (read.name === listDueQueues.name) scans += 1;
      return spool.app.db.query(read, input);
    },
  };
  const dispatcher = startDelivering({ ...spool.app, db });
  await until(() => scans === 1);
  for (const to of ['a@new.example', ['b@new.example', 'c@new.example']]) await spool.accept(to);
  await until(() => sink.messages.length === 2);
  assert.equal(scans, 1);
  const scheduledAt = new Date(spool.clock.now() + HOUR_MS).toISOString();
  await spool.accept('d@new.example', { scheduledAt });
  await until(() => scans === 2);
  await spool.clock.advance(HOUR_MS);
  await until(() => sink.messages.length === 3);
  await halt(spool, dispatcher);
});

test('a wake-up that comes as the dispatcher begins to sleep wakes it', async () => {
  const { spool } = await openWorld({});
  for (let microtasks = 0; microtasks < 40; microtasks++) {
    let scans = 0;
    const db = withDueQueues(spool, async () => {
      if (++scans > 1) return [];
      let arrival = Promise.resolve();
      for (let count = 0; count < microtasks; count++) arrival = arrival.then(() => {});
      void arrival.then(() => spool.app.wakeups.notify('queue'));
      return [];
    });
    const dispatcher = startDelivering({ ...spool.app, db });
    await turn();
    assert.ok(scans >= 2, `${scans} scans, with a wake-up after ${microtasks} microtasks`);
    await halt(spool, dispatcher);
  }
});

test('a connection that is given up for another site is gone before the other one is opened', async () => {
  const slow = await startSlowServer();
  const { spool, dialled } = await openWorld(
    { '192.0.2.1': slow.port, '192.0.2.2': 'hangs' },
    { POSTRIDER_DELIVERY_CONNECTIONS: '1' },
  );
  spool.addZone('slow.example A 192.0.2.1\nother.example A 192.0.2.2');
  const id = await spool.accept('bob@slow.example');
  const dispatcher = startDelivering(spool.app);
  await until(() => slow.isAsked());
  await spool.accept('bob@other.example');
  for (let rounds = 0; rounds < 200; rounds++) await turn();
  assert.deepEqual(dialled, ['192.0.2.1']);
  slow.answer();
  await until(() => dialled.includes('192.0.2.2'));
  assert.equal((await spool.email(id)).status, 'delivered');
  await halt(spool, dispatcher);
});

test('a site keeps its connections while nobody else waits for one', async () => {
  const sink = await openSink();
  const { spool } = await openWorld(
    { '192.0.2.1': sink.port, '192.0.2.2': 'hangs' },
    { POSTRIDER_DELIVERY_CONNECTIONS: '3' },
  );
  spool.addZone('rcpt.example A 192.0.2.1\nhangs.example A 192.0.2.2');
  await spool.accept('bob@hangs.example');
  for (let index = 0; index < 40; index++) await spool.accept(`user${index}@rcpt.example`);
  const dispatcher = startDelivering(spool.app);
  await until(() => sink.messages.length === 40);
  assert.ok(sink.connections() <= 4, `${sink.connections()} connections`);
  await halt(spool, dispatcher);
});

test('mail that is unsent when the time to stop is up is put back, and mail that is being sent stays in flight', async () => {
  const slow = await startSlowServer();
  const { spool, dialled } = await openWorld({ '192.0.2.1': slow.port, '192.0.2.2': 'hangs' });
  spool.addZone('slow.example A 192.0.2.1\nhangs.example A 192.0.2.2');
  await spool.accept('bob@slow.example');
  for (let index = 0; index < 4; index++) await spool.accept(`user${index}@hangs.example`);
  const dispatcher = startDelivering(spool.app);
  await until(() => slow.isAsked() && dialled.includes('192.0.2.2'));
  await halt(spool, dispatcher);
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
