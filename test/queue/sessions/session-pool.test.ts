import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startDelivering } from '../../../src/queue/worker.ts';
import { createTargetGuard } from '../../../src/system/blocklist.ts';
import { createDial, type Dial } from '../../../src/system/dial.ts';
import { pause } from '../../support/pause.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { openSpool, type Spool } from '../../support/spool.ts';

const SECOND_MS = 1_000;
const opened: { close(): unknown }[] = [];
after(async () => {
  for (const one of opened) await one.close();
});

/** Real sockets take real time, but only little. */
const CLOCKLESS = { now: Date.now, elapsed: () => performance.now(), after: () => ({ cancel() {} }) };
const toLoopback = createDial(createTargetGuard({ allow: ['127.0.0.0/8'], own: [] }), CLOCKLESS);

/** Starts a mail server that answers every command except `silentAt`; `.` is the final dot. */
async function startHangingServer(silentAt: string) {
  const sockets = new Set<Socket>();
  let hanging: Socket[] = [];
  let total = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      hanging = hanging.filter((one) => one !== socket);
    });
    socket.write('220 hangs.example ESMTP\r\n');
    socket.on('data', (data) => {
      const text = data.toString('latin1');
      const command = text.endsWith('\r\n.\r\n') ? '.' : text.slice(0, 4);
      if (command === silentAt) {
        hanging.push(socket);
        total += 1;
      } else {
        socket.write(command === 'DATA' ? '354 go on\r\n' : '250 ok\r\n');
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
  return {
    port: (server.address() as AddressInfo).port,
    /** Number of connections that wait for an answer now. */
    hanging: () => hanging.length,
    /** Number of connections that have ever waited for an answer. */
    total: () => total,
    answer(text: string) {
      for (const socket of hanging) socket.write(text);
    },
  };
}

/** `ports` maps an address of the zone to a port of this machine. */
async function openWorld(ports: Record<string, number>, connections: number) {
  const dial: Dial = (target) => {
    const port = ports[target.address];
    return port === undefined
      ? Promise.reject(new Error('ECONNREFUSED'))
      : toLoopback({ ...target, address: '127.0.0.1', port });
  };
  const spool = await openSpool({
    system: { dial },
    env: { POSTRIDER_DELIVERY_CONNECTIONS: String(connections) },
  });
  opened.push(spool);
  return spool;
}

/** Adds a second tenant that may send. Returns the function that sends its mail. */
async function addSender(spool: Spool): Promise<(to: string) => Promise<void>> {
  const { liveKey: key } = await spool.addTenant('other');
  const created = await spool.request('POST', '/v1/domains', { key, body: { name: 'other-sender.example' } });
  type Published = { type: string; name: string; value: string };
  const records = created.body.records as (Published & { alternative?: Published })[];
  for (const record of records) {
    const { type, name, value } = record.alternative ?? record;
    spool.addZone(`${name} ${type} ${type === 'TXT' ? JSON.stringify(value) : value}`);
  }
  const verified = await spool.request('POST', `/v1/domains/${created.body.id}/verify`, { key });
  assert.equal(verified.body.status, 'verified');
  return async (to) => {
    const from = 'Bob <bob@other-sender.example>';
    const body = { from, to, subject: 'Hi', text: 'Hello', type: 'transactional' };
    const sent = await spool.request('POST', '/v1/emails', { key, body });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
  };
}

/** Adds domains at one address, each of which is its own site. */
function addSites(spool: Spool, prefix: string, count: number, address: string): string[] {
  const domains = Array.from({ length: count }, (_, index) => `${prefix}${index}.example`);
  spool.addZone(domains.map((domain) => `${domain} A ${address}`).join('\n'));
  return domains;
}

/** Time limit that only a failing test reaches. */
const PATIENCE_MS = 30_000;

/** Waits on real input and output; the fake clock stands still. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    if (await condition()) return;
    await pause();
  }
  assert.fail('it never came to pass');
}

/** Waits for actions that must not happen. */
async function settle(): Promise<void> {
  for (let rounds = 0; rounds < 300; rounds++) await turn();
}

async function deliverDuring(spool: Spool, run: () => Promise<void>): Promise<void> {
  const dispatcher = startDelivering(spool.app);
  try {
    await run();
  } finally {
    const stopped = dispatcher.stop(0);
    await spool.clock.advance(0);
    await stopped;
  }
}

async function statesOf(spool: Spool): Promise<Record<string, number>> {
  const rows = await spool.app.db.read.selectFrom('recipients').select(['state', 'diagnostic']).execute();
  const counts: Record<string, number> = {};
  for (const { state, diagnostic } of rows) {
    const key = diagnostic ? `${state}: ${diagnostic}` : state;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

test('mail of another tenant to a new site leaves at once while one tenant has hundreds of hosts that hang', async () => {
  const hanging = await startHangingServer('RCPT');
  const sink = await startSmtpSink();
  opened.push(sink);
  const spool = await openWorld({ '192.0.2.1': hanging.port, '192.0.2.2': sink.port }, 16);
  const send = await addSender(spool);
  const domains = addSites(spool, 'hangs', 40, '192.0.2.1');
  spool.addZone('healthy.example A 192.0.2.2');
  await spool.accept(domains.map((domain) => `user@${domain}`));
  await deliverDuring(spool, async () => {
    // An unproven tenant gets three of four of the connections that are not reserved for proven sites.
    await until(() => hanging.hanging() === 9);
    await settle();
    assert.equal(hanging.hanging(), 9);
    await send('ann@healthy.example');
    await until(() => sink.messages.length === 1);
    assert.equal(spool.clock.elapsed(), 0, 'no timeout had to pass');
  });
});

test('mail to a site that has delivered recently leaves at once while new sites hang for everybody', async () => {
  const hanging = await startHangingServer('RCPT');
  const sink = await startSmtpSink();
  opened.push(sink);
  const spool = await openWorld({ '192.0.2.1': hanging.port, '192.0.2.2': sink.port }, 8);
  const send = await addSender(spool);
  spool.addZone('healthy.example A 192.0.2.2');
  await spool.accept('first@healthy.example');
  await spool.deliverDue();
  assert.equal(sink.messages.length, 1);
  const domains = addSites(spool, 'hangs', 20, '192.0.2.1');
  await spool.accept('second@healthy.example');
  await deliverDuring(spool, async () => {
    await until(() => sink.messages.length === 2);
    await spool.accept(domains.map((domain) => `user@${domain}`));
    await until(() => hanging.hanging() === 4);
    for (const domain of addSites(spool, 'others', 20, '192.0.2.1')) await send(`user@${domain}`);
    await until(() => hanging.hanging() === 5);
    await settle();
    await spool.accept('third@healthy.example');
    await until(() => sink.messages.length === 3);
    assert.equal(spool.clock.elapsed(), 0, 'no timeout had to pass');
  });
});

test('hosts that hang give their connections back after half a minute once other mail waits, and lose no mail', async () => {
  const hanging = await startHangingServer('RCPT');
  const sink = await startSmtpSink();
  opened.push(sink);
  const spool = await openWorld({ '192.0.2.1': hanging.port, '192.0.2.2': sink.port }, 8);
  const domains = addSites(spool, 'hangs', 12, '192.0.2.1');
  spool.addZone('healthy.example A 192.0.2.2');
  for (let index = 0; index < 3; index++)
    await spool.accept(domains.map((domain) => `user${index}@${domain}`));
  await deliverDuring(spool, async () => {
    await until(() => hanging.hanging() === 4);
    await spool.accept('ann@healthy.example');
    await settle();
    await spool.clock.advance(29 * SECOND_MS);
    await settle();
    assert.deepEqual([hanging.total(), sink.messages.length], [4, 0]);
    // The tenant's other sites have waited longer, some of them for a second session: five times four deliveries come
    // first.
    const isDelivered = () => sink.messages.length === 1;
    for (let rounds = 1; rounds <= 5 && !isDelivered(); rounds++) {
      const before = hanging.total();
      await spool.clock.advance(31 * SECOND_MS);
      await until(() => isDelivered() || (hanging.total() > before && hanging.hanging() === 4));
    }
    assert.ok(isDelivered());
  });
  const states = await statesOf(spool);
  const cut =
    'deferred: hangs0.example (RCPT TO): the answer took longer than 30000 ms while connections were scarce';
  assert.ok((states[cut] ?? 0) >= 1, JSON.stringify(states));
  const all = Object.values(states).reduce((sum, count) => sum + count);
  assert.equal(all, 37, 'nothing is lost');
});

test('while no other mail waits, a slow host gets the timeouts of RFC 5321', async () => {
  const hanging = await startHangingServer('RCPT');
  const spool = await openWorld({ '192.0.2.1': hanging.port }, 8);
  const [domain] = addSites(spool, 'slow', 1, '192.0.2.1');
  await spool.accept(`user@${domain}`);
  await deliverDuring(spool, async () => {
    await until(() => hanging.hanging() === 1);
    await spool.clock.advance(4 * 60 * SECOND_MS);
    await settle();
    assert.equal(hanging.hanging(), 1);
  });
});

test('a session is never cut after its final dot, however much mail waits', async () => {
  const hanging = await startHangingServer('.');
  const spool = await openWorld({ '192.0.2.1': hanging.port }, 8);
  const domains = addSites(spool, 'slow', 20, '192.0.2.1');
  await spool.accept(domains.map((domain) => `user@${domain}`));
  await deliverDuring(spool, async () => {
    await until(() => hanging.hanging() === 4);
    await spool.clock.advance(9 * 60 * SECOND_MS);
    await settle();
    assert.equal(hanging.hanging(), 4);
    hanging.answer('250 taken\r\n');
    await until(async () => ((await statesOf(spool))['delivered: 250 taken'] ?? 0) >= 4);
  });
});

test('tenants whose hosts all hang end up with about the same number of connections', async () => {
  const first = await startHangingServer('RCPT');
  const second = await startHangingServer('RCPT');
  const spool = await openWorld({ '192.0.2.1': first.port, '192.0.2.2': second.port }, 16);
  const send = await addSender(spool);
  const firstDomains = addSites(spool, 'first', 40, '192.0.2.1');
  const secondDomains = addSites(spool, 'second', 20, '192.0.2.2');
  await spool.accept(firstDomains.map((domain) => `user@${domain}`));
  await deliverDuring(spool, async () => {
    await until(() => first.hanging() === 9);
    for (const domain of secondDomains) await send(`user@${domain}`);
    await until(() => second.hanging() === 2);
    await spool.clock.advance(31 * SECOND_MS);
    const isFair = (count: number) => count >= 4 && count <= 6;
    await until(() => isFair(first.hanging()) && isFair(second.hanging()));
    await settle();
    assert.ok(isFair(first.hanging()) && isFair(second.hanging()));
  });
});
