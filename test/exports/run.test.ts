import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportJobs } from '../../src/exports/run.ts';
import { createJobKind } from '../../src/jobs/run.ts';
import { createJobSweep } from '../../src/jobs/sweep.ts';
import { AppError } from '../../src/system/errors.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { exportCsv, exportHandlers, importCsv, leaseExportsOf, runExport } from '../imports/jobs.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { releaseTasksOf } from '../support/tasks.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

const NOW = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;
const PATH = '/v1/suppressions/exports';

function filesOf({ dataDir }: TestApp): string[] {
  const root = join(dataDir, 'blobs');
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((folder) => readdirSync(join(root, folder)));
}

/** More than a row holds: the export is a file of its own. */
async function addMany(open: TestApp): Promise<void> {
  const rows = Array.from({ length: 6_000 }, (_, index) => `somebody.${index}@b.example\n`).join('');
  await importCsv(open, '/v1/suppressions/imports', `email\n${rows}`);
  await open.app.blobs.sweep();
}

test('an export that is asked for is written by the worker, and its file is downloaded', async () => {
  await using open = await openTestApp();
  const worker = startTasks(open.app, [createJobKind(open.app, exportJobs(open.app, exportHandlers))]);
  try {
    const { status, body } = await open.request('POST', PATH);
    assert.deepEqual([status, body.status, body.sizeBytes], [202, 'queued', null]);
    const { request } = open;
    const statusNow = async () => (await request('GET', `/v1/exports/${body.id}`)).body.status;
    await waitUntil(async () => (await statusNow()) === 'completed');
    const file = await request('GET', `/v1/exports/${body.id}/file`);
    assert.equal(file.body, 'email,reason,sourceEmailId,diagnostic,createdAt\r\n');
    assert.equal(file.headers['content-type'], 'text/csv; charset=utf-8');
    assert.equal(file.headers['content-disposition'], `attachment; filename="suppressions-${body.id}.csv"`);
    assert.equal(Number(file.headers['content-length']), file.body.length);
  } finally {
    await worker.stop(5_000);
  }
});

test('before it has completed there is no file, and another tenant has none at all', async () => {
  await using open = await openTestApp();
  const other = await open.addTenant('other');
  const { body } = await open.request('POST', PATH);
  const early = await open.request('GET', `/v1/exports/${body.id}/file`);
  assert.deepEqual([early.status, early.body.error.type], [409, 'invalid_state']);
  for (const path of [`/v1/exports/${body.id}`, `/v1/exports/${body.id}/file`]) {
    const theirs = await open.request('GET', path, { key: other.testKey });
    const nobodys = await open.request('GET', path.replace(body.id, 'exp_01khq3z5vgxw1r8t6n2m4c9b7d'));
    for (const { status, body: answer } of [theirs, nobodys]) {
      assert.deepEqual([status, answer.error.message], [404, 'Export not found']);
    }
  }
  assert.deepEqual((await open.request('GET', '/v1/exports', { key: other.testKey })).body.data, []);
  assert.deepEqual((await open.request('GET', '/v1/exports')).body.data, [body]);
});

test('an export that is stopped begins anew, and leaves nothing behind', async () => {
  await using open = await openTestApp();
  await addMany(open);
  const before = filesOf(open);
  const { body } = await open.request('POST', PATH);
  const [job] = await leaseExportsOf(open);
  assert.ok(job);
  let asked = 0;
  const handler = exportHandlers.suppressions;
  assert.equal(await runExport(open.app, handler, job, () => asked++ > 3), 'stopped');
  assert.deepEqual(filesOf(open), before);
  assert.equal((await open.request('GET', `/v1/exports/${body.id}`)).body.status, 'running');

  assert.equal(await releaseTasksOf(open.app, 'exports'), 1);
  const [again] = await leaseExportsOf(open);
  assert.ok(again);
  assert.equal(await runExport(open.app, handler, again, () => false), 'completed');
  assert.equal((await open.request('GET', `/v1/exports/${body.id}`)).body.rows, 6_000);
  assert.equal(filesOf(open).length, before.length + 1);

  // A run that came too late: its file is not kept, nor is the first one's touched.
  await open.request('POST', '/v1/suppressions', { body: { email: 'one.more@b.example' } });
  assert.equal(await runExport(open.app, handler, job, () => false), 'stale');
  assert.equal(filesOf(open).length, before.length + 1);
  assert.equal((await open.request('GET', `/v1/exports/${body.id}/file`)).status, 200);
});

test('the file of an export stays when the outcome of its commit is unknown, and is deleted when it was refused', async () => {
  await using open = await openTestApp();
  await addMany(open);
  const before = filesOf(open).length;
  await open.request('POST', PATH);
  const [job] = await leaseExportsOf(open);
  assert.ok(job);
  const run = (error: Error) =>
    runExport(
      { ...open.app, db: { ...open.app.db, commit: () => Promise.reject(error) } },
      exportHandlers.suppressions,
      job,
      () => false,
    );
  const refusal = new AppError('unavailable', 'The disk is full');
  await assert.rejects(run(refusal), refusal);
  assert.equal(filesOf(open).length, before);
  await assert.rejects(run(new Error('the database thread has ended')));
  assert.equal(filesOf(open).length, before + 1);
});

test('an export is retried after an error that may pass, and fails after a bug', async () => {
  await using open = await openTestApp();
  await open.request('POST', PATH);
  const [job] = await leaseExportsOf(open);
  assert.ok(job);
  const run = (error: Error) => runExport(open.app, { open: () => Promise.reject(error) }, job, () => false);
  for (const code of ['EMFILE', 'ENOSPC', 'SQLITE_BUSY', 'SQLITE_IOERR_READ']) {
    const passing = Object.assign(new Error(code), { code });
    await assert.rejects(run(passing), passing);
  }
  assert.equal(await run(new TypeError('a bug')), 'failed');
});

test('a week after it has ended, an export is gone with its file, and not before', async () => {
  const clock = createFakeClock(NOW);
  await using open = await openTestApp({ system: { clock } });
  await addMany(open);
  const { job } = await exportCsv(open, PATH);
  const sweep = createJobSweep(open.app);
  await clock.advance(7 * DAY_MS);
  await sweep.run('run');
  assert.equal((await open.request('GET', `/v1/exports/${job.id}/file`)).status, 200);
  await clock.advance(1);
  await sweep.run('run');
  assert.equal((await open.request('GET', `/v1/exports/${job.id}`)).status, 404);
  assert.deepEqual(filesOf(open), []);
});

test('a tenant may have so many exports that wait, and so many altogether', async () => {
  await using open = await openTestApp();
  for (let kept = 0; kept < 100; kept += 10) {
    for (let index = 0; index < 10; index++) assert.equal((await open.request('POST', PATH)).status, 202);
    const refused = await open.request('POST', PATH);
    assert.equal(refused.status, 400);
    assert.match(refused.body.error.message, /^You have 10 unfinished exports, which is the maximum/);
    for (let job = (await leaseExportsOf(open))[0]; job; job = (await leaseExportsOf(open))[0]) {
      await runExport(open.app, exportHandlers[job.kind], job, () => false);
    }
  }
  const refused = await open.request('POST', PATH);
  assert.equal(refused.status, 400);
  assert.match(refused.body.error.message, /^You have 100 exports, which is the maximum/);
});
