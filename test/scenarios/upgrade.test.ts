/** Data directories of earlier versions are upgraded completely. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createApiServer } from '../../src/api.ts';
import { type App, openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createLinks } from '../../src/links/links.ts';
import { createBodyHash } from '../../src/mail/dkim/body-hash.ts';
import { openMessage } from '../../src/queue/contents/open.ts';
import { findMessage } from '../../src/queue/store.ts';
import { createSealer, loadMasterKey } from '../../src/system/seal.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { comparable, previousVersion, writePreviousVersion } from '../support/previous-version.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const dataDir = temporaryDirectory('upgrade');
const { keys, ids, writtenAt } = previousVersion('oldest');
let app: App & AsyncDisposable;
let server: FastifyInstance;

/** Opens an app at the time at which the data directory was written, since some answers depend on the time. */
async function open(directory: string, writtenAt: number) {
  const env = {
    POSTRIDER_DATA_DIR: directory,
    POSTRIDER_HOSTNAME: 'mail.test',
    POSTRIDER_LOG_LEVEL: 'silent',
  };
  const opened = await openApp(loadConfig({ env }), { clock: createFakeClock(writtenAt) });
  return { opened, api: await createApiServer(opened) };
}

before(async () => {
  writePreviousVersion(dataDir, 'oldest');
  ({ opened: app, api: server } = await open(dataDir, writtenAt));
});
after(async () => {
  await server.close();
  await app[Symbol.asyncDispose]();
});

async function get(path: string) {
  const headers = { authorization: `Bearer ${keys.test}` };
  const response = await server.inject({ url: `/v1${path}`, headers });
  assert.equal(response.statusCode, 200, `${path}: ${response.body}`);
  return response.json();
}

test('every resource of the previous version is shown as that version showed it', async () => {
  const directory = temporaryDirectory('upgrade');
  writePreviousVersion(directory);
  const previous = previousVersion();
  const { opened, api } = await open(directory, previous.writtenAt);
  await using _app = opened;
  for (const { key, path, body } of previous.answers) {
    const response = await api.inject({
      url: path,
      headers: { authorization: `Bearer ${previous.keys[key]}` },
    });
    const isJson = response.headers['content-type']?.toString().includes('json');
    const shown = isJson ? comparable(path, response.json()) : response.body;
    assert.deepEqual([response.statusCode, shown], [200, comparable(path, body)], `${key} ${path}`);
  }
  const emails = Object.entries(previous.ids).filter(([, id]) => id.startsWith('em_'));
  for (const [kind, id] of emails) {
    if (kind !== 'expired') await assertSentAsComposed(opened, id);
  }
  assert.equal(emails.length, 15);
  await api.close();
});

/** Asserts that the stored message is whole, by the hash of its body, and begins with its header. */
async function assertSentAsComposed(opened: App, id: string): Promise<void> {
  const message = await findMessage(opened.db.read, id);
  assert.ok(message);
  const { bytes, header } = await openMessage({ ...opened, links: createLinks(opened) }, { message });
  const head = await header();
  assert.match(head.toString(), /^From: .*\r\n\r\n$/s);
  const hash = createBodyHash();
  const chunks: Buffer[] = [];
  for await (const chunk of bytes.chunks()) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  assert.deepEqual([whole.length, whole.subarray(0, head.length)], [bytes.sizeBytes, head]);
  hash.update(whole.subarray(head.length));
  assert.equal(hash.digest(), message.bodyHash);
}

test('every resource of the oldest version can be read', async () => {
  const { email, bounced, file, scheduled, ...resources } = ids;
  for (const id of [email, bounced, file, scheduled]) assert.equal((await get(`/emails/${id}`)).id, id);
  const folders: Record<string, string> = {
    ...{ domain: 'domains', template: 'templates', topic: 'topics', audience: 'audiences' },
    ...{ contact: `audiences/${ids['audience']}/contacts`, segment: 'segments', broadcast: 'broadcasts' },
    ...{ suppression: 'suppressions', webhook: 'webhooks', apiKey: 'api-keys' },
    ...{ import: 'imports', export: 'exports' },
  };
  for (const [kind, id] of Object.entries(resources)) {
    assert.equal((await get(`/${folders[kind]}/${id}`)).id, id, kind);
  }
  assert.deepEqual((await get(`/segments/${ids['segment']}`)).contactCount, 1);
});

test('the states, the recipients and the content of emails of the oldest version are unchanged', async () => {
  const [email, bounced, scheduled] = [
    await get(`/emails/${ids['email']}`),
    await get(`/emails/${ids['bounced']}`),
    await get(`/emails/${ids['scheduled']}`),
  ];
  assert.deepEqual([email.status, bounced.status, scheduled.status], ['delivered', 'bounced', 'queued']);
  assert.deepEqual([email.html, email.text, email.tags], ['<p>Hi</p>', 'Hi', { a: 'b' }]);
  assert.equal(bounced.recipients[0].smtpCode, 550);
});

test('messages of the oldest version are sent as that version composed them', async () => {
  for (const id of [ids['scheduled'] ?? '', ids['file'] ?? '']) await assertSentAsComposed(app, id);
});

test('secrets of the oldest version open with its master key, and its file holds the message', async () => {
  const endpoint = await app.db.read
    .selectFrom('webhookEndpoints')
    .select(['id', 'tenantId', 'secretSealed'])
    .executeTakeFirstOrThrow();
  const sealer = createSealer(loadMasterKey(dataDir, true));
  assert.match(sealer.open(endpoint.secretSealed, [endpoint.tenantId, endpoint.id]), /^whsec_/);
  const message = await app.db.read
    .selectFrom('messages')
    .innerJoin('blobs', 'blobs.id', 'messages.blobId')
    .select(['sha256', 'sizeBytes'])
    .where('messages.id', '=', ids['file'] ?? '')
    .executeTakeFirstOrThrow();
  const file = readFileSync(join(dataDir, 'blobs', message.sha256.slice(0, 2), message.sha256));
  assert.equal(file.length, message.sizeBytes);
});
