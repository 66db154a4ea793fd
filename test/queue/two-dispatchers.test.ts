/** Tests two dispatchers over one database, connected as two delivery threads are. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { ownerOf } from '../../src/queue/share.ts';
import { sitesTogether } from '../../src/queue/thread/together.ts';
import { startDelivering } from '../../src/queue/worker.ts';
import { closeAfterEach } from '../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../support/command-server.ts';
import { linkPeers } from '../support/linked-peers.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { noReceiver, PACKAGED } from '../support/spool.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openRoutedSpool } from './routed-spool.ts';

const closing = closeAfterEach();
const SHARE = { index: 0, count: 2 };
const AT_ONCE = {
  after(_delayMs: number, run: () => void) {
    const immediate = setImmediate(run);
    return { cancel: () => clearImmediate(immediate) };
  },
};

type World = Awaited<ReturnType<typeof openRoutedSpool>>;

function startTwo({ app }: World) {
  const dispatchers = linkPeers(2, AT_ONCE).map((peers) =>
    startDelivering(app, noReceiver, { replies: PACKAGED, peers }),
  );
  return {
    sites: sitesTogether(dispatchers.map(({ sites }) => sites)),
    stop: async (graceMs: number) => void (await Promise.all(dispatchers.map((one) => one.stop(graceMs)))),
  };
}

/** Returns a host whose site the thread owns. */
function hostOf(thread: number): string {
  for (let index = 0; ; index++)
    if (ownerOf(`mx${index}.example`, SHARE) === thread) return `mx${index}.example`;
}

/** A server that takes a message and does not say so until it is told to. */
async function startHeldServer() {
  let dot: Socket | undefined;
  const server = closing(
    await startCommandServer((line, socket) => {
      if (line !== '.') return acceptEverything(line);
      dot = socket;
      return '';
    }),
  );
  return { ...server, hasDot: () => dot !== undefined, answer: () => void dot?.write('250 taken\r\n') };
}

test('domains whose mail goes to one host share its limit, wherever their queues are at home', async () => {
  const sink = closing(await startSmtpSink());
  const spool = closing(
    await openRoutedSpool({ '192.0.2.1': sink.port }, undefined, {
      POSTRIDER_DELIVERY_CONNECTIONS_PER_SITE: '1',
    }),
  );
  const domains = Array.from({ length: 12 }, (_, index) => `d${index}.example`);
  spool.addZone(`mx.shared.example A 192.0.2.1`);
  for (const domain of domains) spool.addZone(`${domain} MX 10 mx.shared.example`);
  const delivery = startTwo(spool);
  for (const domain of domains) for (const name of ['ada', 'bob']) await spool.accept(`${name}@${domain}`);
  await spool.settled();
  assert.equal(sink.connections(), 1);
  const recipients = sink.messages.flatMap((message) => message.recipients);
  assert.equal(new Set(recipients).size, 24);
  assert.equal(recipients.length, 24, 'nobody got the mail twice');
  const named = { name: 'mx.shared.example', siteOfDomain: undefined };
  assert.equal((await delivery.sites.explainSites(named)).length, 1, 'one thread knows the site');
  await delivery.stop(0);
});

test('a queue whose hosts change is passed on to the other thread while a claim of it is being sent, and everything is sent once', async () => {
  const before = await startHeldServer();
  const after = closing(await startSmtpSink());
  const spool = closing(await openRoutedSpool({ '192.0.2.1': before.port, '192.0.2.2': after.port }));
  const [first, second] = [hostOf(0), hostOf(1)];
  const zone = `${first} A 192.0.2.1\n${second} A 192.0.2.2\n`;
  spool.addZone(zone);
  spool.addZone(`moving.example MX 10 ${first}`);
  const delivery = startTwo(spool);
  const early = await spool.accept('early@moving.example');
  await waitUntil(before.hasDot, 'the first message is being sent');
  spool.dns.setZone(`${zone}moving.example MX 10 ${second}`);
  spool.app.wakeups.notify('outbound-routes');
  const late = await spool.accept('late@moving.example');
  await waitUntil(() => after.messages.length === 1, 'the second message goes to the new host');
  assert.equal((await spool.email(early)).status, 'sent', 'the first one is still being sent');
  before.answer();
  await spool.settled();
  for (const id of [early, late]) assert.equal((await spool.email(id)).status, 'delivered');
  assert.equal(before.connections(), 1);
  assert.deepEqual(
    after.messages.map(({ recipients }) => recipients),
    [['late@moving.example']],
  );
  await delivery.stop(0);
});
