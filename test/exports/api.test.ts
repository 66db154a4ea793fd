import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JobRow } from '../../src/db/marketing-tables.ts';
import { completeExport, insertExport, MAX_KEPT, MAX_KEPT_BYTES } from '../../src/exports/store.ts';
import { newId } from '../../src/system/ids.ts';
import {
  exportCsv,
  exportHandlers,
  importCsv,
  lease,
  leaseExportsOf,
  newAudience,
  runExport,
} from '../imports/jobs.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const PATH = '/v1/suppressions/exports';

function filesOf({ dataDir }: TestApp): string[] {
  const root = join(dataDir, 'blobs');
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((folder) => readdirSync(join(root, folder)));
}

/** Puts an export there that has ended, as if with a file of this size. */
async function keep({ app, tenantId }: TestApp, sizeBytes: number): Promise<string> {
  const now = app.clock.now();
  const job: JobRow = {
    ...{ id: newId('exp', now), tenantId, type: 'export', kind: 'suppressions', audienceId: null },
    ...{
      status: 'completed',
      error: null,
      blobId: null,
      sizeBytes,
      rows: 0,
      options: '{}',
      progress: '{}',
    },
    ...{ createdAt: now, startedAt: now, finishedAt: now },
  };
  await app.db.commit(insertExport, job);
  // The task of a job that has ended is done.
  await lease({ app, tenantId }, 'export');
  return job.id;
}

test('an export that has ended is deleted, and its file is gone at once', async () => {
  await using open = await openTestApp();
  const rows = Array.from({ length: 6_000 }, (_, index) => `somebody.${index}@b.example\n`).join('');
  await importCsv(open, '/v1/suppressions/imports', `email\n${rows}`);
  const before = filesOf(open);
  const { job } = await exportCsv(open, PATH);
  assert.equal(filesOf(open).length, before.length + 1, 'the file is large enough to be one');
  const other = await open.addTenant('other');
  const theirs = await open.request('DELETE', `/v1/exports/${job.id}`, { key: other.testKey });
  assert.equal(theirs.status, 404);
  assert.equal((await open.request('DELETE', `/v1/exports/${job.id}`)).status, 204);
  assert.deepEqual(filesOf(open), before);
  for (const [method, path] of [
    ['DELETE', `/v1/exports/${job.id}`],
    ['GET', `/v1/exports/${job.id}`],
    ['GET', `/v1/exports/${job.id}/file`],
  ] as const) {
    const { status, body } = await open.request(method, path);
    assert.deepEqual([status, body.error.message], [404, 'Export not found'], `${method} ${path}`);
  }
});

test('a small file is gone with its export, and one that another export has too is not', async () => {
  await using open = await openTestApp();
  const stored = async () =>
    (await open.app.db.read.selectFrom('blobs').select('sizeBytes').execute())
      .map(({ sizeBytes }) => sizeBytes)
      .sort();
  const { job: small } = await exportCsv(open, PATH);
  assert.deepEqual(await stored(), [small.sizeBytes]);
  assert.equal((await open.request('DELETE', `/v1/exports/${small.id}`)).status, 204);
  assert.deepEqual(await stored(), [0]);

  const rows = Array.from({ length: 6_000 }, (_, index) => `somebody.${index}@b.example\n`).join('');
  await importCsv(open, '/v1/suppressions/imports', `email\n${rows}`);
  const [{ job: one }, { job: same }] = [await exportCsv(open, PATH), await exportCsv(open, PATH)];
  assert.equal((await open.request('DELETE', `/v1/exports/${one.id}`)).status, 204);
  assert.equal((await open.request('GET', `/v1/exports/${same.id}/file`)).status, 200);
});

test('an export that waits or is at work is not deleted', async () => {
  await using open = await openTestApp();
  const { body: job } = await open.request('POST', PATH);
  for (const status of ['queued', 'running']) {
    const refused = await open.request('DELETE', `/v1/exports/${job.id}`);
    assert.deepEqual([refused.status, refused.body.error.type], [409, 'invalid_state']);
    assert.match(refused.body.error.message, new RegExp(`The export is ${status};`));
    if (status === 'queued') assert.equal((await leaseExportsOf(open)).length, 1);
  }
  assert.equal((await open.request('GET', `/v1/exports/${job.id}`)).body.status, 'running');
});

test('a tenant with the maximum number of exports can add one after deleting another', async () => {
  await using open = await openTestApp();
  const ids: string[] = [];
  for (let index = 0; index < MAX_KEPT; index++) ids.push(await keep(open, 0));
  const refused = await open.request('POST', PATH);
  assert.deepEqual([refused.status, refused.body.error.type], [400, 'validation_error']);
  assert.match(
    refused.body.error.message,
    /^You have 100 exports, which is the maximum; delete one, or wait/,
  );
  assert.equal((await open.request('DELETE', `/v1/exports/${ids[50]}`)).status, 204);
  assert.equal((await open.request('POST', PATH)).status, 202);
});

test('the files of a tenant have so many bytes together, and another tenant has its own', async () => {
  await using open = await openTestApp();
  await keep(open, MAX_KEPT_BYTES - 1_000);
  assert.equal((await open.request('POST', PATH)).status, 202);
  const last = await keep(open, 1_000);
  const refused = await open.request('POST', PATH);
  assert.deepEqual([refused.status, refused.body.error.type], [400, 'validation_error']);
  assert.match(refused.body.error.message, /have 1 GiB together, which is the maximum; delete some/);
  const other = await open.addTenant('other');
  assert.equal((await open.request('POST', PATH, { key: other.testKey })).status, 202);
  assert.equal((await open.request('DELETE', `/v1/exports/${last}`)).status, 204);
  assert.equal((await open.request('POST', PATH)).status, 202);
});

test('exports that were asked for while there was room are not written once there is none', async () => {
  await using open = await openTestApp();
  const ids: string[] = [];
  while (ids.length < 2) ids.push((await open.request('POST', PATH)).body.id);
  const [first] = await leaseExportsOf(open);
  assert.ok(first);
  const [data, now] = [Buffer.from('x'), open.app.clock.now()];
  const blob = {
    id: newId('blob', now),
    sha256: 'x',
    sizeBytes: MAX_KEPT_BYTES,
    eightBit: 0,
    data,
  } as const;
  const completion = { lease: first.lease, blob: { ...blob, createdAt: now }, rows: 1, now };
  assert.ok(await open.app.db.commit(completeExport, completion));
  const [second] = await leaseExportsOf(open);
  assert.ok(second);
  assert.equal(await runExport(open.app, exportHandlers.suppressions, second, () => false), 'failed');
  const { body } = await open.request('GET', `/v1/exports/${second.id}`);
  assert.deepEqual([body.status, body.sizeBytes], ['failed', null]);
  assert.match(body.error, /have 1 GiB together, which is the maximum; delete some/);
  assert.equal((await open.request('DELETE', `/v1/exports/${first.id}`)).status, 204);
  assert.equal((await exportCsv(open, PATH)).job.status, 'completed');
});

test('the file of an audience that was deleted is not there any more', async () => {
  await using open = await openTestApp();
  const [gone, stays] = [await newAudience(open, 'Gone'), await newAudience(open, 'Stays')];
  const [lost, kept] = [
    await exportCsv(open, `/v1/audiences/${gone}/contacts/exports`),
    await exportCsv(open, `/v1/audiences/${stays}/contacts/exports`),
  ];
  const fileOf = ({ job }: { job: { id: string } }) => open.request('GET', `/v1/exports/${job.id}/file`);
  assert.equal((await fileOf(lost)).status, 200);
  assert.equal((await open.request('DELETE', `/v1/audiences/${gone}`)).status, 204);
  const { status, body } = await fileOf(lost);
  assert.deepEqual([status, body.error.type, body.error.message], [404, 'not_found', 'Export not found']);
  assert.equal((await fileOf(kept)).status, 200);
  // It is still told of, and can be deleted.
  assert.equal((await open.request('GET', `/v1/exports/${lost.job.id}`)).body.status, 'completed');
  assert.equal((await open.request('DELETE', `/v1/exports/${lost.job.id}`)).status, 204);
});
