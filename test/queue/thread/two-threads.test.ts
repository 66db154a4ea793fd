/** Tests two real threads that deliver, in an application whose main thread cannot connect to anything. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { TraceEvent } from '../../../src/queue/conversation/trace.ts';
import { createDelivery } from '../../../src/queue/delivery.ts';
import { ownerOf } from '../../../src/queue/share.ts';
import { realClock } from '../../../src/system/clock.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { noReceiver, openSpool, type Spool } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Returns a host whose site the thread owns. */
function hostOf(thread: number): string {
  for (let index = 0; ; index++)
    if (ownerOf(`mx${index}.example`, { index: 0, count: 2 }) === thread) return `mx${index}.example`;
}

const HOSTS = [hostOf(0), hostOf(1)] as const;
/** The mail of six domains goes to each host. */
const DOMAINS = HOSTS.flatMap((host, of) =>
  Array.from({ length: 6 }, (_, index) => ({ domain: `d${index}.of${of}.example`, host })),
);
const sink = await startSmtpSink();
const dns = await startDnsServer(
  [
    ...HOSTS.map((host) => `${host} A 127.0.0.1`),
    ...DOMAINS.map(({ domain, host }) => `${domain} MX 10 ${host}`),
  ].join('\n'),
);
const opened: { stop(): Promise<void> }[] = [];
after(async () => {
  await Promise.all(opened.map((one) => one.stop()));
  await Promise.all([sink.close(), dns.close()]);
});

async function openDelivery(env: Record<string, string> = {}) {
  const spool = await openSpool({
    smtpPort: sink.port,
    system: { clock: realClock },
    env: {
      POSTRIDER_DNS_SERVERS: dns.address,
      POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
      POSTRIDER_DELIVERY_THREADS: '2',
      POSTRIDER_DELIVERY_CONNECTIONS_PER_SITE: '1',
      ...env,
    },
  });
  const delivery = createDelivery(spool.app, { inThreads: true });
  opened.push({
    async stop() {
      await delivery.stop(0);
      await spool.close();
    },
  });
  await delivery.start();
  await delivery.begin(noReceiver);
  return { spool, delivery };
}

const named = (name: string) => ({ name, siteOfDomain: undefined });
const status = async (spool: Spool, id: string) => (await spool.email(id)).status;

const { spool, delivery } = await openDelivery();

test('two threads keep the limits of sites, send everything once, and show one report and one trace of each site', async () => {
  const [first, second] = HOSTS;
  const traced: TraceEvent[] = [];
  const ends = HOSTS.map((host) =>
    delivery.traces.watch(named(host), (event) => traced.push(event), assert.fail),
  );
  const ids: string[] = [];
  for (const { domain } of DOMAINS)
    ids.push(await spool.accept(`ada@${domain}`), await spool.accept(`bob@${domain}`));
  await waitUntil(async () => {
    const statuses = await Promise.all(ids.map((id) => status(spool, id)));
    return statuses.every((one) => one === 'delivered');
  }, 'everything is delivered');
  const recipients = sink.messages.flatMap((message) => message.recipients);
  assert.equal(recipients.length, ids.length, 'nobody got the mail twice');
  assert.equal(new Set(recipients).size, ids.length);
  assert.equal(sink.connections(), 2, 'one connection to each site');
  await waitUntil(
    () =>
      new Set(traced.filter(({ kind }) => kind === 'outcome').map(({ emailId }) => emailId)).size ===
      ids.length,
    'the outcomes of both threads are shown',
  );
  for (const end of ends) end();
  const reports = await Promise.all(HOSTS.map((host) => delivery.sites.explainSites(named(host))));
  assert.deepEqual(
    reports.map((found) => found.map(({ site }) => site)),
    [[first], [second]],
  );
  const { text } = await spool.app.metrics.show();
  assert.match(text, /thread="delivery 2"/);
});

test('connections have different numbers in all threads, and the operator ends the one that is named', async () => {
  const ids = await Promise.all(DOMAINS.map(({ domain }) => spool.accept(`eve@${domain}`)));
  await waitUntil(
    async () => (await Promise.all(ids.map((id) => status(spool, id)))).every((one) => one === 'delivered'),
    'everything is delivered',
  );
  const connections = await Promise.all(
    HOSTS.map(async (host) => {
      const [report] = await delivery.sites.explainSites(named(host));
      return report?.connections[0]?.id ?? assert.fail('it has a connection');
    }),
  );
  const [one = 0, other = 0] = connections;
  assert.notEqual(one % 2, other % 2);
  const disconnect = (connection: number) =>
    delivery.sites.disconnect({ ...named(HOSTS[0]), connection, force: false });
  assert.deepEqual(await disconnect(other), []);
  assert.deepEqual(
    (await disconnect(one)).map(({ id, host }) => [id, host]),
    [[one, HOSTS[0]]],
  );
});

test('threads that stop settle what is under way, and claim no more', async () => {
  const before = sink.messages.length;
  const ids = await Promise.all(HOSTS.map((_host, of) => spool.accept(`late@d0.of${of}.example`)));
  await waitUntil(() => sink.messages.length >= before + 2, 'the dots have arrived');
  await delivery.stop(30_000);
  for (const id of ids) assert.equal(await status(spool, id), 'delivered');
  const late = await spool.accept('late@d1.of1.example');
  assert.equal(await status(spool, late), 'queued');
  assert.equal(delivery.isRunning, false);
});

test('the death of any of the threads is the failure of delivery, with which the daemon ends', async () => {
  const crashing = await openDelivery({ POSTRIDER_CRASH_AT: 'thread:smtp-connected' });
  await crashing.spool.accept('ada@d0.of1.example');
  const error = await crashing.delivery.failed;
  assert.match(error.message, /"delivery 2" has died/);
  assert.equal(crashing.delivery.isRunning, false);
});
