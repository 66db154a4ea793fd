/** The data directory of an earlier version is upgraded completely. */
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
const { keys, ids, answers, writtenAt } = previousVersion();
let app: App & AsyncDisposable;
let server: FastifyInstance;

before(async () => {
  writePreviousVersion(dataDir);
  const env = { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_HOSTNAME: 'mail.test', POSTRIDER_LOG_LEVEL: 'silent' };
  // Some answers depend on the time.
  app = await openApp(loadConfig({ env }), { clock: createFakeClock(writtenAt) });
  server = await createApiServer(app);
});
after(async () => {
  await server.close();
  await app[Symbol.asyncDispose]();
});

test('every resource of the previous version is shown as that version showed it', async () => {
  for (const { key, path, body } of answers) {
    const headers = { authorization: `Bearer ${keys[key]}` };
    const response = await server.inject({ url: path, headers });
    const isJson = response.headers['content-type']?.toString().includes('json');
    const shown = isJson ? comparable(response.json()) : response.body;
    assert.deepEqual([response.statusCode, shown], [200, comparable(body)], `${key} ${path}`);
  }
});

test('messages of the previous version are sent as that version composed them', async () => {
  const emails = Object.entries(ids).filter(([, id]) => id.startsWith('em_'));
  assert.equal(emails.length, 15);
  for (const [kind, id] of emails) if (kind !== 'expired') await assertSentAsComposed(id);
});

/** Asserts that the stored message is whole, by the hash of its body, and begins with its header. */
async function assertSentAsComposed(id: string): Promise<void> {
  const message = await findMessage(app.db.read, id);
  assert.ok(message);
  const { bytes, header } = await openMessage({ ...app, links: createLinks(app) }, { message });
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
