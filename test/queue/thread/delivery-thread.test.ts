/** Tests the real thread that delivers, in an application whose main thread cannot connect to anything. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import type { TraceEvent } from '../../../src/queue/conversation/trace.ts';
import { createDelivery } from '../../../src/queue/delivery.ts';
import type { LocalMessage } from '../../../src/queue/local-receiver.ts';
import { realClock } from '../../../src/system/clock.ts';
import { createLog } from '../../../src/system/log.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { openSpool } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

const HOSTNAME = 'mx.postrider.example';
const logged: { msg: string; [field: string]: unknown }[] = [];
const sink = await startSmtpSink({ keepRaw: true });
const dns = await startDnsServer('one.example MX 10 mx.one.example\nmx.one.example A 127.0.0.1');
const spool = await openSpool({
  smtpPort: sink.port,
  system: {
    clock: realClock,
    log: createLog('info', { write: (line) => void logged.push(JSON.parse(line)) }),
  },
  env: { POSTRIDER_DNS_SERVERS: dns.address, POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8' },
});
const delivery = createDelivery(spool.app, { inThreads: true });
const received: { message: LocalMessage; bytes: string }[] = [];
after(async () => {
  await delivery.stop(0);
  await Promise.all([spool.close(), sink.close(), dns.close()]);
});
await delivery.start();
await delivery.begin(async (message) => {
  received.push({ message, bytes: await text(message.bytes()) });
  return message.recipients.map(() => ({ phase: 'dot', code: 250, status: '2.0.0', text: 'taken' }));
});

const status = async (id: string) => (await spool.email(id)).status;

test('mail is signed and delivered by the thread; its log lines, its metrics and what is watched of it cross', async () => {
  const events: TraceEvent[] = [];
  const site = { name: 'mx.one.example', siteOfDomain: undefined };
  const end = delivery.traces.watch(site, (event) => events.push(event), assert.fail);
  const id = await spool.accept('bob@one.example', { text: undefined, html: '<p>Hello <b>Bob</b></p>' });
  await waitUntil(async () => (await status(id)) === 'delivered', 'the email is delivered');
  const raw = String(sink.messages[0]?.raw);
  assert.match(raw, /^DKIM-Signature: /);
  assert.match(raw, /\r\n\r\nHello Bob\r\n/, 'the text that was generated from the HTML');
  await waitUntil(() => events.some(({ kind }) => kind === 'outcome'), 'the outcome is shown');
  assert.ok(events.every(({ emailId }) => emailId === id));
  end();
  await waitUntil(() => logged.some(({ msg }) => msg === 'mail delivered'), 'the line is written');
  const delivered = logged.filter(({ msg }) => msg === 'mail delivered');
  assert.deepEqual([delivered.length, delivered[0]?.['emailId']], [1, id]);
  await waitUntil(async () => {
    const shown = await spool.app.metrics.show();
    return shown.text.includes(
      'postrider_delivery_attempts_total{outcome="delivered",phase="dot",provider="other"} 1',
    );
  }, 'the attempt is counted');
  assert.deepEqual(delivery.signs, { deliversNothing: false, failsDns: false });
});

test('the operator sees the connections of the thread, and ends them', async () => {
  const id = await spool.accept('bob@one.example');
  await waitUntil(async () => (await status(id)) === 'delivered', 'the email is delivered');
  const named = { name: 'mx.one.example', siteOfDomain: undefined };
  await waitUntil(async () => {
    const [site] = await delivery.sites.explainSites(named);
    return site?.connections[0]?.state === 'idle';
  }, 'the connection waits for mail');
  const ended = await delivery.sites.disconnect({ ...named, connection: null, force: false });
  assert.deepEqual(
    ended.map(({ host, how }) => [host, how]),
    [['mx.one.example', 'closed']],
  );
  await waitUntil(async () => {
    const [site] = await delivery.sites.explainSites(named);
    return site?.connections.length === 0;
  }, 'it has ended');
  assert.deepEqual(await delivery.sites.liftRests({ ...named, restriction: null }), []);
});

test('mail to a domain that is received here is received by the main thread, and the thread stores its answer', async () => {
  const id = await spool.accept(`postmaster@${HOSTNAME}`, { text: 'To ourselves' });
  await waitUntil(async () => (await status(id)) === 'delivered', 'the email is received');
  assert.deepEqual(received[0]?.message.recipients, [`postmaster@${HOSTNAME}`]);
  assert.match(received[0]?.bytes ?? '', /^DKIM-Signature: [\s\S]*To ourselves\r\n/);
});

test('a thread that stops settles what is under way, and claims no more', async () => {
  const before = sink.messages.length;
  const id = await spool.accept('bob@one.example');
  await waitUntil(() => sink.messages.length > before, 'the dot has arrived');
  await delivery.stop(30_000);
  assert.equal(await status(id), 'delivered');
  const late = await spool.accept('bob@one.example');
  assert.equal(await status(late), 'queued');
  assert.equal(delivery.isRunning, false);
});
