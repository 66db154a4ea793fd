/** A backup that is made while the daemon runs, and restored beside it: two daemons on loopback, with real DNS, SMTP and HTTP. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { openApp } from '../../src/app.ts';
import { restoreBackup } from '../../src/backups/restore.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/main.ts';
import { newId } from '../../src/system/ids.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { controlOf } from './control.ts';
import { deliver, readInbox } from './people.ts';

const SENDER = 'sender.example';
const ZONE = [
  'rcpt.example MX 10 mx.rcpt.example',
  'mx.rcpt.example A 127.0.0.1',
  // Automatic replies go to proven senders alone.
  'rcpt.example TXT "v=spf1 ip4:127.0.0.1 -all"',
].join('\n');
const ANN = { address: `ann@${SENDER}`, password: 'correct horse battery' };
const SHOP = `shop@${SENDER}`;
/** Number of times that the restored daemon is asked something before it counts as silent. Each runs its work meanwhile. */
const QUIET_REQUESTS = 20;

const cleanUp = new AsyncDisposableStack();
after(() => cleanUp.disposeAsync());

type Json = Record<string, unknown> & {
  id: string;
  records: { type: string; name: string; value: string }[];
};

function apiOf({ address }: Daemon, key: string) {
  return async (method: string, path: string, body?: object): Promise<Json> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const request = { method, headers, ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }) };
    let response = await fetch(`${address}${path}`, request);
    // Two daemons on a busy machine refuse some requests, which have no effect then.
    await waitUntil(async () => {
      if (response.status === 503) response = await fetch(`${address}${path}`, request);
      return response.status !== 503;
    });
    const answer = (await response.json()) as Json;
    assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
}

async function liveKeyOf({ app }: Daemon): Promise<string> {
  const now = app.clock.now();
  const tenantId = newId('ten', now);
  await app.db.commit(insertTenant, { id: tenantId, name: 'scenario', plan: 'unlimited', createdAt: now });
  const permission = 'full_access' as const;
  return (await createApiKey(app, { tenantId, name: 'k', mode: 'live', permission, expiresAt: null })).token;
}

const mail = (subject: string) => ({
  ...{ from: `ada@${SENDER}`, to: 'bob@rcpt.example', subject, text: 'Hello', type: 'transactional' },
});

async function start(config: Config): Promise<Daemon> {
  const daemon = await startDaemon(config);
  cleanUp.defer(() => daemon.stop());
  return daemon;
}

test('nothing leaves a restored installation before it is released, and what leaves after it leaves once', async () => {
  const sink = await startSmtpSink({ keepRaw: true });
  cleanUp.defer(() => sink.close());
  const receiver = await startWebhookReceiver();
  cleanUp.defer(() => receiver.close());
  const shop = await startWebhookReceiver();
  cleanUp.defer(() => shop.close());
  const dns = await startDnsServer(ZONE);
  cleanUp.defer(() => dns.close());
  const configOf = (dataDir: string, smtpPort: number) =>
    loadConfig({
      env: {
        POSTRIDER_HOSTNAME: 'mx.postrider.example',
        POSTRIDER_DATA_DIR: dataDir,
        ...FREE_PORTS,
        POSTRIDER_DNS_SERVERS: dns.address,
        POSTRIDER_OUTBOUND_SMTP_PORT: String(smtpPort),
        POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
        POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true',
        POSTRIDER_STORAGE_RESERVE_MEGABYTES: '0',
        POSTRIDER_LOG_LEVEL: 'silent',
      },
    });

  // The receiving server of the first daemon does not listen, so its mail waits.
  const original = await start(configOf(newDataDirectory(), 9));
  const key = await liveKeyOf(original);
  const api = apiOf(original, key);
  const { id, records } = await api('POST', '/v1/domains', { name: SENDER });
  const lines = records
    .map((record) => ({ ...record, ...(record as { alternative?: object }).alternative }))
    .map(({ name, type, value }) => `${name} ${type} ${type === 'TXT' ? JSON.stringify(value) : value}`);
  dns.setZone([ZONE, ...lines].join('\n'));
  await api('POST', `/v1/domains/${id}/verify`);
  await api('POST', '/v1/webhooks', { url: receiver.url, events: ['email.queued'] });
  const before = await api('POST', '/v1/emails', mail('before the backup'));
  await waitUntil(() => receiver.received.length === 1, 'the original has posted its event');

  // A mailbox that answers and forwards, and a route.
  await api('PATCH', `/v1/domains/${id}`, { productType: 'both' });
  const vacation = { subject: 'Away', text: 'Back on Monday.' };
  const mailbox = await api('POST', '/v1/mailboxes', ANN);
  await api('PATCH', `/v1/mailboxes/${mailbox.id}`, { vacation, forwardTo: ['bob@rcpt.example'] });
  await api('POST', '/v1/inbound/routes', { address: SHOP, destination: shop.url });
  await deliver(original, { from: 'carol@rcpt.example', to: ANN.address, subject: 'Tea' });
  const { request } = controlOf(original);
  await waitUntil(async () => (await waitingMail(request)) === 3, 'the reply and the forwarded message wait');
  const inbox = await readInbox(original, ANN);
  assert.deepEqual(inbox.subjects, ['Tea']);

  const { path } = await request<{ path: string }>('POST', '/backups');
  const config = configOf(join(temporaryDirectory('restored'), 'data'), sink.port);
  await restoreBackup({
    backup: path,
    identities: [],
    config,
    now: Date.now(),
    open: (staged) => openApp(staged),
    crashPoint: () => {},
  });
  makeMailDue(config);

  const restored = await start(config);
  const copy = apiOf(restored, key);
  const during = await copy('POST', '/v1/emails', mail('while nothing leaves'));
  const control = controlOf(restored);
  await deliver(restored, { from: 'dave@rcpt.example', to: ANN.address, subject: 'Cake' });
  await deliver(restored, { from: 'dave@rcpt.example', to: SHOP, subject: 'Order' });
  const audience = await copy('POST', '/v1/audiences', { name: 'Readers', optIn: { from: `ada@${SENDER}` } });
  await copy('POST', `/v1/audiences/${audience.id}/contacts`, {
    email: 'erin@rcpt.example',
    status: 'pending',
  });
  await waitUntil(async () => (await waitingMail(control.request)) === 7, 'what they cause waits');
  const read = await readInbox(restored, ANN);
  assert.deepEqual(read.subjects, ['Tea', 'Cake']);
  assert.ok(read.uidValidity > inbox.uidValidity);
  for (let count = 0; count < QUIET_REQUESTS; count++) await copy('GET', `/v1/emails/${during.id}`);
  assert.deepEqual([sink.connections(), receiver.received.length, shop.received.length], [0, 1, 0]);
  const { mail: waiting, restoredAt } = await control.request<{ mail: object; restoredAt: number }>(
    'GET',
    '/restoration',
  );
  assert.ok(restoredAt > 0);
  assert.partialDeepStrictEqual(waiting, { due: 7, later: 0 });

  await control.request('POST', '/restoration/release');
  await waitUntil(() => sink.messages.length >= 7, 'mail leaves');
  await waitUntil(() => shop.received.length >= 1, 'the order is posted to its route');
  await waitUntil(() => receiver.received.length >= 3, 'the events of the restored installation are posted');
  for (const one of [before, during])
    await waitUntil(
      async () => (await copy('GET', `/v1/emails/${one.id}`))['status'] === 'delivered',
      'it is delivered',
    );
  assert.deepEqual(
    sink.messages
      .map(({ recipients, raw }) => `${recipients}: ${/^Subject: (.*?)\r$/m.exec(`${raw}`)?.[1]}`)
      .sort(),
    [
      'bob@rcpt.example: Cake',
      'bob@rcpt.example: Tea',
      'bob@rcpt.example: before the backup',
      'bob@rcpt.example: while nothing leaves',
      'carol@rcpt.example: Away',
      'dave@rcpt.example: Away',
      'erin@rcpt.example: Please confirm your subscription',
    ],
  );
  assert.equal(shop.received.length, 1);
  const posted = receiver.received.map(
    ({ body }) => (JSON.parse(body) as { data: { emailId: string } }).data.emailId,
  );
  assert.equal(posted[0], before.id);
  assert.ok(posted.includes(during.id));
  assert.deepEqual([posted.length, new Set(posted).size], [3, 3], 'the third is the mail for confirmation');
  assert.partialDeepStrictEqual(await control.request('GET', '/restoration'), { restoredAt: null });
});

/** Returns the number of recipients whose mail waits. */
async function waitingMail(request: ReturnType<typeof controlOf>['request']): Promise<number> {
  const { mail: waiting } = await request<{ mail: { due: number; later: number } }>('GET', '/restoration');
  return waiting.due + waiting.later;
}

/** Makes mail due that waits for its next attempt. No daemon uses the database. */
function makeMailDue({ dataDir }: Config): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.exec("UPDATE recipients SET dueAt = 1 WHERE state IN ('ready', 'deferred')");
  database.close();
}
