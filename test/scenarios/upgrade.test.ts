/** A data directory of the previous version is upgraded completely. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createApiServer } from '../../src/api.ts';
import { type App, openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { openMessage } from '../../src/queue/contents/open.ts';
import { findMessage } from '../../src/queue/store.ts';
import { createSealer, loadMasterKey } from '../../src/system/seal.ts';
import { previousVersion, writePreviousVersion } from '../support/previous-version.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const dataDir = temporaryDirectory('upgrade');
const { key, ids } = previousVersion();
let app: App & AsyncDisposable;
let server: FastifyInstance;

before(async () => {
  writePreviousVersion(dataDir);
  const env = { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_HOSTNAME: 'mail.test', POSTRIDER_LOG_LEVEL: 'silent' };
  app = await openApp(loadConfig({ env }));
  server = await createApiServer(app);
});
after(async () => {
  await server.close();
  await app[Symbol.asyncDispose]();
});

async function get(path: string) {
  const response = await server.inject({ url: `/v1${path}`, headers: { authorization: `Bearer ${key}` } });
  assert.equal(response.statusCode, 200, `${path}: ${response.body}`);
  return response.json();
}

test('every resource of the previous version can be read', async () => {
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

test('the states, the recipients and the content of emails of the previous version are unchanged', async () => {
  const [email, bounced, scheduled] = [
    await get(`/emails/${ids['email']}`),
    await get(`/emails/${ids['bounced']}`),
    await get(`/emails/${ids['scheduled']}`),
  ];
  assert.deepEqual([email.status, bounced.status, scheduled.status], ['delivered', 'bounced', 'queued']);
  assert.deepEqual([email.html, email.text, email.tags], ['<p>Hi</p>', 'Hi', { a: 'b' }]);
  assert.equal(bounced.recipients[0].smtpCode, 550);
});

test('messages of the previous version are sent as that version composed them', async () => {
  for (const id of [ids['scheduled'] ?? '', ids['file'] ?? '']) {
    const message = await findMessage(app.db.read, id);
    assert.ok(message);
    const { bytes, header, bodyHash } = await openMessage(app, message);
    assert.match((await header()).toString(), /^From: .*\r\n\r\n$/s);
    assert.equal(await bodyHash(), message.bodyHash);
    let sizeBytes = 0;
    for await (const chunk of bytes.chunks()) sizeBytes += chunk.length;
    assert.equal(sizeBytes, bytes.sizeBytes);
  }
});

test('secrets of the previous version open with its master key, and its file holds the message', async () => {
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
