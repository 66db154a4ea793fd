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

const SENDER = 'sender.example';
const ZONE = 'rcpt.example MX 10 mx.rcpt.example\nmx.rcpt.example A 127.0.0.1';
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
    const response = await fetch(`${address}${path}`, {
      method,
      headers,
      ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
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

  const { request } = controlOf(original);
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
  for (let count = 0; count < QUIET_REQUESTS; count++) await copy('GET', `/v1/emails/${during.id}`);
  assert.equal(sink.connections(), 0);
  assert.equal(receiver.received.length, 1);
  const control = controlOf(restored);
  const { mail: waiting, restoredAt } = await control.request<{ mail: object; restoredAt: number }>(
    'GET',
    '/restoration',
  );
  assert.ok(restoredAt > 0);
  assert.partialDeepStrictEqual(waiting, { due: 2, later: 0 });

  await control.request('POST', '/restoration/release');
  await waitUntil(() => sink.messages.length >= 2, 'mail leaves');
  await waitUntil(() => receiver.received.length >= 2, 'the event of the restored installation is posted');
  for (const one of [before, during])
    await waitUntil(
      async () => (await copy('GET', `/v1/emails/${one.id}`))['status'] === 'delivered',
      'it is delivered',
    );
  assert.equal(sink.messages.length, 2);
  const posted = receiver.received.map(
    ({ body }) => (JSON.parse(body) as { data: { emailId: string } }).data.emailId,
  );
  assert.deepEqual(posted, [before.id, during.id]);
  assert.partialDeepStrictEqual(await control.request('GET', '/restoration'), { restoredAt: null });
});

/** Makes mail due that waits for its next attempt. No daemon uses the database. */
function makeMailDue({ dataDir }: Config): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.exec("UPDATE recipients SET dueAt = 1 WHERE state IN ('ready', 'deferred')");
  database.close();
}
