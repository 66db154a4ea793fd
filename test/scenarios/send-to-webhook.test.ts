/** The whole daemon on loopback, with real DNS, SMTP and HTTP: nothing of it is replaced, not even its clock. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/main.ts';
import { newId } from '../../src/system/ids.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { type Conformance, conformanceAt } from '../support/conformance.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ReceivedWebhook, startWebhookReceiver } from '../support/webhook-receiver.ts';

const SENDER = 'sender.example';
const RECEIVER_ZONE = 'rcpt.example MX 10 mx.rcpt.example\nmx.rcpt.example A 127.0.0.1';

const cleanUp = new AsyncDisposableStack();
after(() => cleanUp.disposeAsync());

/** Sink, webhook receiver and name server, and the settings of a daemon that is to live among them. */
async function openSurroundings(replyDelayMs: number) {
  const sink = await startSmtpSink({ replyDelayMs, keepRaw: true });
  cleanUp.defer(() => sink.close());
  const receiver = await startWebhookReceiver();
  cleanUp.defer(() => receiver.close());
  const dns = await startDnsServer(RECEIVER_ZONE);
  cleanUp.defer(() => dns.close());
  const config = loadConfig({
    env: {
      POSTRIDER_HOSTNAME: 'mx.postrider.example',
      POSTRIDER_DATA_DIR: newDataDirectory(),
      ...FREE_PORTS,
      POSTRIDER_DNS_SERVERS: dns.address,
      POSTRIDER_OUTBOUND_SMTP_PORT: String(sink.port),
      POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
      POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true',
      POSTRIDER_LOG_LEVEL: 'silent',
    },
  });
  return { sink, receiver, dns, start: () => startTracked(() => startDaemon(config)) };
}

/** Stopped at the end unless the test has done so. */
async function startTracked(start: () => Promise<Daemon>) {
  const daemon = await start();
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= daemon.stop());
  cleanUp.defer(stop);
  return { ...daemon, stop };
}

type Api = (
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<ApiAnswer>;
// biome-ignore lint/suspicious/noExplicitAny: what an API answered is what the test is about to find out.
type ApiAnswer = { status: number; headers: Headers; body: any };

/**
 * Each answer is checked against the document that the daemon serves. A daemon on a busy machine may shed a request
 * before it begins; the client then tries again, as it should.
 */
function apiOf(address: string, key: string): Api {
  let conformance: Conformance | undefined;
  const ask: Api = async (method, path, body, headers = {}) => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { status } = response;
    const text = await response.text();
    conformance ??= await conformanceAt(address);
    conformance.check({ method, url: path, status, headers: Object.fromEntries(response.headers), text });
    return { status, headers: response.headers, body: JSON.parse(text) };
  };
  return async (...request) => {
    let answer = await ask(...request);
    await waitUntil(async () => {
      if (answer.status === 503) answer = await ask(...request);
      return answer.status !== 503;
    }, 'an answer other than 503 comes');
    return answer;
  };
}

async function createLiveKey({ app }: Daemon): Promise<string> {
  const now = app.clock.now();
  const tenantId = newId('ten', now);
  await app.db.commit(insertTenant, { id: tenantId, name: 'scenario', plan: 'unlimited', createdAt: now });
  const permission = 'full_access' as const;
  return (await createApiKey(app, { tenantId, name: 'k', mode: 'live', permission, expiresAt: null })).token;
}

async function verifyDomain(api: Api, dns: DnsServer): Promise<string> {
  const created = await api('POST', '/v1/domains', { name: SENDER });
  assert.equal(created.status, 201);
  const records = created.body.records as { type: string; name: string; value: string }[];
  // The value of the DKIM record is a name in the operator's own zone; the customer may publish the key itself.
  const lines = records
    .map((record) => ({ ...record, ...(record as { alternative?: object }).alternative }))
    .map(({ name, type, value }) => `${name} ${type} ${type === 'TXT' ? JSON.stringify(value) : value}`);
  dns.setZone([RECEIVER_ZONE, ...lines].join('\n'));
  const verified = await api('POST', `/v1/domains/${created.body.id}/verify`);
  assert.equal(verified.body.status, 'verified', JSON.stringify(verified.body));
  return created.body.id;
}

async function createEndpoint(api: Api, url: string): Promise<{ id: string; secret: string }> {
  const events = ['email.queued', 'email.sent', 'email.delivered'];
  const { status, body } = await api('POST', '/v1/webhooks', { url, events });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

const MAIL = {
  from: `Ada <ada@${SENDER}>`,
  to: 'bob@rcpt.example',
  subject: 'Grüße',
  text: 'Hello',
  html: '<p>Hello</p>',
  type: 'transactional',
};

type EventPost = { type: string; createdAt: string; data: { emailId: string; to: string; from: string } };

const postOf = ({ body }: ReceivedWebhook) => JSON.parse(body) as EventPost;

/** As specification 6 tells receivers to check, without a line of the daemon's own. */
function isSigned({ headers, body, receivedAtMs }: ReceivedWebhook, secret: string): boolean {
  const [, time = '', hex = ''] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature'])) ?? [];
  if (Math.abs(receivedAtMs / 1_000 - Number(time)) > 300) return false;
  return createHmac('sha256', secret).update(`${time}.${body}`).digest('hex') === hex;
}

test('an accepted email arrives, and each step of its way is told to the webhook, signed', async () => {
  const { sink, receiver, dns, start } = await openSurroundings(0);
  const daemon = await start();
  const api = apiOf(daemon.address, await createLiveKey(daemon));
  await verifyDomain(api, dns);
  const { secret } = await createEndpoint(api, receiver.url);

  const accepted = await api('POST', '/v1/emails', MAIL);
  assert.deepEqual([accepted.status, accepted.body.status], [200, 'queued']);
  const { id } = accepted.body;
  await waitUntil(() => receiver.received.length >= 3, 'three webhooks are posted');

  assert.equal(sink.messages.length, 1);
  const [message] = sink.messages;
  assert.deepEqual(message?.recipients, ['bob@rcpt.example']);
  const shown = await api('GET', `/v1/emails/${id}`);
  assert.equal(shown.body.status, 'delivered');
  assert.equal(shown.body.messageId, message?.messageId);

  const posts = receiver.received.map(postOf);
  assert.deepEqual(
    new Set(posts.map(({ type }) => type)),
    new Set(['email.queued', 'email.sent', 'email.delivered']),
  );
  for (const { data, createdAt } of posts) {
    assert.deepEqual([data.emailId, data.to, data.from], [id, 'bob@rcpt.example', `ada@${SENDER}`]);
    assert.equal(new Date(createdAt).toISOString(), createdAt);
  }
  for (const received of receiver.received) {
    assert.ok(isSigned(received, secret));
    assert.ok(!isSigned({ ...received, body: `${received.body} ` }, secret));
    assert.ok(!isSigned(received, `${secret}x`));
  }
  await daemon.stop();
  assert.equal(receiver.received.length, 3, 'each is posted once');
});

test('stopping finishes what is under way, and a start on the same directory goes on from there', async () => {
  const { sink, receiver, dns, start } = await openSurroundings(300);
  const first = await start();
  const key = await createLiveKey(first);
  const api = apiOf(first.address, key);
  const domainId = await verifyDomain(api, dns);
  const endpoint = await createEndpoint(api, receiver.url);
  const once = { 'idempotency-key': 'scenario' };
  const accepted = await api('POST', '/v1/emails', MAIL, once);
  const { id } = accepted.body;
  await waitUntil(() => sink.messages.length === 1, 'the sink has the message');

  await first.stop();
  assert.equal(sink.openConnections(), 0, 'the sink was let finish its reply');
  await assert.rejects(fetch(`${first.address}/healthz`), 'nobody listens any more');

  const second = await start();
  const again = apiOf(second.address, key);
  assert.equal((await again('GET', `/v1/domains/${domainId}`)).body.status, 'verified');
  assert.equal((await again('GET', `/v1/webhooks/${endpoint.id}`)).body.status, 'enabled');
  assert.equal((await again('GET', `/v1/emails/${id}`)).body.status, 'delivered');
  const repeated = await again('POST', '/v1/emails', MAIL, once);
  assert.deepEqual(repeated.body, accepted.body);
  assert.equal(repeated.headers.get('idempotency-replayed'), 'true');

  await waitUntil(
    () => receiver.received.some((received) => postOf(received).type === 'email.delivered'),
    'the delivery is told',
  );
  assert.ok(receiver.received.every((received) => isSigned(received, endpoint.secret)));
  const next = await again('POST', '/v1/emails', { ...MAIL, subject: 'Second' });
  await waitUntil(() => sink.messages.length === 2, 'the sink has the second message');
  assert.equal(sink.messages[1]?.messageId, `<${next.body.id}@${SENDER}>`);
  await second.stop();
  assert.equal(sink.messages.length, 2, 'neither was sent twice');
});
