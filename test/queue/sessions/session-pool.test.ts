import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startDelivering } from '../../../src/queue/worker.ts';
import { closeAfterEach } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { noReceiver, type Spool } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const SECOND_MS = 1_000;
const closing = closeAfterEach();
const openSink = async () => closing(await startSmtpSink());

/** Starts a mail server that answers every command except `silentAt`; `.` is the final dot. */
async function startHangingServer(silentAt: string) {
  const silent = new Set<Socket>();
  const hanging = () => [...silent].filter((socket) => !socket.destroyed);
  const server = await startCommandServer((line, socket) => {
    if (!line.startsWith(silentAt)) return acceptEverything(line);
    silent.add(socket);
    return '';
  });
  return closing({
    ...server,
    /** Number of connections that wait for an answer now. */
    hanging: () => hanging().length,
    /** Number of connections that have ever waited for an answer. */
    total: () => silent.size,
    answer(text: string) {
      for (const socket of hanging()) socket.write(text);
    },
  });
}

/** Opens a spool in which 192.0.2.1, 192.0.2.2, … are these servers. */
async function openWorld(servers: { port: number }[], connections: number) {
  const hosts = servers.map(({ port }, index) => [`192.0.2.${index + 1}`, port]);
  return closing(await openRoutedSpool(Object.fromEntries(hosts), connections));
}

/** Adds a second tenant that may send. Returns the function that sends its mail. */
async function addSender(spool: Spool): Promise<(to: string) => Promise<unknown>> {
  const { liveKey: key } = await spool.addTenant('other');
  await spool.addDomain(key, 'other-sender.example');
  return (to) => spool.accept(to, { key, from: 'Bob <bob@other-sender.example>' });
}

/** Adds domains at one address, each of which is its own site. */
function addSites(spool: Spool, prefix: string, count: number, address: string): string[] {
  const domains = Array.from({ length: count }, (_, index) => `${prefix}${index}.example`);
  spool.addZone(domains.map((domain) => `${domain} A ${address}`).join('\n'));
  return domains;
}

/** Waits for actions that must not happen. */
async function settle(): Promise<void> {
  for (let rounds = 0; rounds < 300; rounds++) await turn();
}

async function deliverDuring(spool: Spool, run: () => Promise<void>): Promise<void> {
  const dispatcher = startDelivering(spool.app, noReceiver);
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
  const sink = await openSink();
  const spool = await openWorld([hanging, sink], 16);
  const send = await addSender(spool);
  const domains = addSites(spool, 'hangs', 40, '192.0.2.1');
  spool.addZone('healthy.example A 192.0.2.2');
  await spool.accept(domains.map((domain) => `user@${domain}`));
  await deliverDuring(spool, async () => {
    // An unproven tenant gets three of four of the connections that are not reserved for proven sites.
    await waitUntil(() => hanging.hanging() === 9);
    await settle();
    assert.equal(hanging.hanging(), 9);
    await send('ann@healthy.example');
    await waitUntil(() => sink.messages.length === 1);
    assert.equal(spool.clock.elapsed(), 0, 'no timeout had to pass');
  });
});

test('mail to a site that has delivered recently leaves at once while new sites hang for everybody', async () => {
  const hanging = await startHangingServer('RCPT');
  const sink = await openSink();
  const spool = await openWorld([hanging, sink], 8);
  const send = await addSender(spool);
  spool.addZone('healthy.example A 192.0.2.2');
  await spool.accept('first@healthy.example');
  await spool.deliverDue();
  assert.equal(sink.messages.length, 1);
  const domains = addSites(spool, 'hangs', 20, '192.0.2.1');
  await spool.accept('second@healthy.example');
  await deliverDuring(spool, async () => {
    await waitUntil(() => sink.messages.length === 2);
    await spool.accept(domains.map((domain) => `user@${domain}`));
    await waitUntil(() => hanging.hanging() === 4);
    for (const domain of addSites(spool, 'others', 20, '192.0.2.1')) await send(`user@${domain}`);
    await waitUntil(() => hanging.hanging() === 5);
    await settle();
    await spool.accept('third@healthy.example');
    await waitUntil(() => sink.messages.length === 3);
    assert.equal(spool.clock.elapsed(), 0, 'no timeout had to pass');
  });
});

test('hosts that hang give their connections back after half a minute once other mail waits, and lose no mail', async () => {
  const hanging = await startHangingServer('RCPT');
  const sink = await openSink();
  const spool = await openWorld([hanging, sink], 8);
  const domains = addSites(spool, 'hangs', 12, '192.0.2.1');
  spool.addZone('healthy.example A 192.0.2.2');
  for (let index = 0; index < 3; index++)
    await spool.accept(domains.map((domain) => `user${index}@${domain}`));
  await deliverDuring(spool, async () => {
    await waitUntil(() => hanging.hanging() === 4);
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
      await waitUntil(() => isDelivered() || (hanging.total() > before && hanging.hanging() === 4));
    }
    assert.ok(isDelivered());
  });
  const states = await statesOf(spool);
  // Some of the deferred mail is due again by then, or in its next attempt.
  const cut = /\(RCPT TO\): the answer took longer than 30000 ms while connections were scarce$/;
  assert.ok(
    Object.keys(states).some((state) => cut.test(state)),
    JSON.stringify(states),
  );
  const all = Object.values(states).reduce((sum, count) => sum + count);
  assert.equal(all, 37, 'nothing is lost');
});

test('while no other mail waits, a slow host gets the timeouts of RFC 5321', async () => {
  const hanging = await startHangingServer('RCPT');
  const spool = await openWorld([hanging], 8);
  const [domain] = addSites(spool, 'slow', 1, '192.0.2.1');
  await spool.accept(`user@${domain}`);
  await deliverDuring(spool, async () => {
    await waitUntil(() => hanging.hanging() === 1);
    await spool.clock.advance(4 * 60 * SECOND_MS);
    await settle();
    assert.equal(hanging.hanging(), 1);
  });
});

test('a session is never cut after its final dot, however much mail waits', async () => {
  const hanging = await startHangingServer('.');
  const spool = await openWorld([hanging], 8);
  const domains = addSites(spool, 'slow', 20, '192.0.2.1');
  await spool.accept(domains.map((domain) => `user@${domain}`));
  await deliverDuring(spool, async () => {
    await waitUntil(() => hanging.hanging() === 4);
    await spool.clock.advance(9 * 60 * SECOND_MS);
    await settle();
    assert.equal(hanging.hanging(), 4);
    hanging.answer('250 taken\r\n');
    await waitUntil(async () => ((await statesOf(spool))['delivered: 250 taken'] ?? 0) >= 4);
  });
});

test('tenants whose hosts all hang get about the same number of connections', async () => {
  const first = await startHangingServer('RCPT');
  const second = await startHangingServer('RCPT');
  const spool = await openWorld([first, second], 16);
  const send = await addSender(spool);
  const firstDomains = addSites(spool, 'first', 40, '192.0.2.1');
  const secondDomains = addSites(spool, 'second', 20, '192.0.2.2');
  await spool.accept(firstDomains.map((domain) => `user@${domain}`));
  await deliverDuring(spool, async () => {
    await waitUntil(() => first.hanging() === 9);
    for (const domain of secondDomains) await send(`user@${domain}`);
    await waitUntil(() => second.hanging() === 2);
    await spool.clock.advance(31 * SECOND_MS);
    const isFair = (count: number) => count >= 4 && count <= 6;
    await waitUntil(() => isFair(first.hanging()) && isFair(second.hanging()));
    await settle();
    assert.ok(isFair(first.hanging()) && isFair(second.hanging()));
  });
});
