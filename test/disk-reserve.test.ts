import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../src/system/errors.ts';
import { emailBody } from './emails/fixtures.ts';
import {
  exportHandlers,
  importHandlers,
  lease,
  leaseExportsOf,
  runExport,
  runImport,
  sendCsv,
} from './imports/jobs.ts';
import { openTestApp, type TestApp } from './support/test-app.ts';

const GB = 1024 ** 3;

let world: TestApp;
let freeBytes = 50 * GB;
before(async () => {
  world = await openTestApp({ system: { statDisk: async () => ({ freeBytes, totalBytes: 100 * GB }) } });
});
after(() => world.close());

async function setFree(bytes: number): Promise<void> {
  freeBytes = bytes;
  await world.app.disk.check();
}

test('below the reserve nothing new is accepted, and existing records can be read, stopped and deleted', async () => {
  const scheduledAt = new Date(world.app.clock.now() + 3_600_000).toISOString();
  const post = (path: string, body: unknown) => world.request('POST', path, { body });
  const { body: email } = await post('/v1/emails', emailBody({ scheduledAt }));
  const { body: topic } = await post('/v1/topics', { name: 'news' });
  await setFree(512 * 1024 * 1024 - 1);
  for (const [path, body] of [
    ['/v1/emails', emailBody()],
    ['/v1/emails/batch', { emails: [emailBody()] }],
    ['/v1/suppressions/exports', undefined],
    ['/v1/templates', { name: 'x', subject: 'x', html: 'x' }],
  ] as const) {
    const { status, body: answer } = await post(path, body);
    assert.deepEqual([status, answer.error.type], [503, 'unavailable'], path);
  }
  assert.equal((await sendCsv(world, '/v1/suppressions/imports', 'email\na@b.example\n')).status, 503);
  assert.equal((await world.request('GET', `/v1/emails/${email.id}`)).status, 200);
  assert.equal((await post(`/v1/emails/${email.id}/cancel`, undefined)).status, 200);
  assert.equal((await post('/v1/suppressions', { email: 'gone@example.com', reason: 'manual' })).status, 201);
  assert.equal((await world.request('DELETE', `/v1/topics/${topic.id}`)).status, 204);
  const health = await world.request('GET', '/healthz', { key: null });
  assert.deepEqual([health.status, health.body.reasons], [503, ['disk_below_reserve']]);

  await setFree(GB);
  assert.equal((await post('/v1/emails', emailBody())).status, 200);
  assert.equal((await world.request('GET', '/healthz', { key: null })).status, 200);
});

test('waiting imports and exports continue when there is free space again', async () => {
  await sendCsv(world, '/v1/suppressions/imports', 'email\na@b.example\n');
  await world.request('POST', '/v1/suppressions/exports');
  const [importJob] = await lease(world);
  const [exportJob] = await leaseExportsOf(world);
  assert.ok(importJob && exportJob);
  const runs = [
    () => runImport(world.app, importHandlers.suppressions, importJob, () => false),
    () => runExport(world.app, exportHandlers.suppressions, exportJob, () => false),
  ];
  await setFree(0);
  for (const run of runs) await assert.rejects(run, AppError);
  await setFree(GB);
  for (const run of runs) assert.equal(await run(), 'completed');
});
