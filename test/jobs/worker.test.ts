import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { App } from '../../src/app.ts';
import type { BlobRow } from '../../src/db/tables.ts';
import { createImport } from '../../src/imports/create.ts';
import { importJobs } from '../../src/imports/run.ts';
import { createJobKind } from '../../src/jobs/run.ts';
import { createJobSweep } from '../../src/jobs/sweep.ts';
import { AppError } from '../../src/system/errors.ts';
import type { RunningWork } from '../../src/system/worker.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { importCsv, importHandlers, lease, newAudience, runImport, sendCsv } from '../imports/jobs.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

const NOW = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;
/** An import of so many rows takes many batches. */
const MANY_ROWS = 10_000;

function startImports(app: App): RunningWork {
  return startTasks(app, [createJobKind(app, importJobs(app, importHandlers))]);
}

async function statusOf({ request }: TestApp, id: string): Promise<string> {
  return (await request('GET', `/v1/imports/${id}`)).body.status;
}

test('a new file wakes the worker, which imports it at once', async () => {
  await using open = await openTestApp();
  const worker = startImports(open.app);
  try {
    const { body } = await sendCsv(open, '/v1/suppressions/imports', 'email\na@b.example\n');
    assert.equal(body.status, 'queued');
    await waitUntil(async () => (await statusOf(open, body.id)) === 'completed');
  } finally {
    await worker.stop(5_000);
  }
});

test('a job of an earlier start continues at once, and stopping the worker waits for no file', async () => {
  await using open = await openTestApp();
  const audienceId = await newAudience(open);
  const rows = Array.from({ length: MANY_ROWS }, (_, index) => `r${index}@b.example\n`).join('');
  const { body } = await sendCsv(open, `/v1/audiences/${audienceId}/contacts/imports`, `email\n${rows}`);
  await lease({ ...open, app: { ...open.app, runId: 'earlier' } });
  const first = startImports(open.app);
  await waitUntil(async () => (await open.request('GET', `/v1/imports/${body.id}`)).body.rows > 0);
  await first.stop(5_000);
  const { body: stopped } = await open.request('GET', `/v1/imports/${body.id}`);
  assert.equal(stopped.status, 'running');
  assert.ok(stopped.rows < MANY_ROWS, String(stopped.rows));
  const second = startImports(open.app);
  await waitUntil(async () => (await statusOf(open, body.id)) === 'completed');
  await second.stop(5_000);
  const { body: ended } = await open.request('GET', `/v1/imports/${body.id}`);
  assert.deepEqual([ended.rows, ended.created], [MANY_ROWS, MANY_ROWS]);
});

test('an import that cannot use its file is retried, each time after a longer delay, and then completes', async () => {
  const clock = createFakeClock(NOW);
  await using open = await openTestApp({ system: { clock, random: () => 0.5 } });
  const failures = ['EMFILE', 'SQLITE_BUSY', 'ENOSPC', 'EIO'];
  const attemptedAt: number[] = [];
  const blobs = {
    ...open.app.blobs,
    open(id: BlobRow['id']) {
      attemptedAt.push(clock.elapsed());
      const code = failures.shift();
      if (code === undefined) return open.app.blobs.open(id);
      return Promise.reject(Object.assign(new Error(code), { code }));
    },
  };
  const worker = startImports({ ...open.app, blobs });
  try {
    const { body } = await sendCsv(open, '/v1/suppressions/imports', 'email\na@b.example\n');
    for (const [index, pauseMs] of [5_000, 10_000, 20_000, 40_000].entries()) {
      await waitUntil(async () => {
        const { dueAt } = await open.app.db.read
          .selectFrom('tasks')
          .select('dueAt')
          .executeTakeFirstOrThrow();
        const pause = (dueAt ?? 0) - NOW - (attemptedAt[index] ?? 0);
        return attemptedAt.length === index + 1 && pause >= pauseMs && pause < pauseMs + 1_000;
      });
      assert.equal(await statusOf(open, body.id), 'running');
      await clock.advance(pauseMs - 1_000);
      assert.equal(attemptedAt.length, index + 1);
      await waitUntil(async () => {
        await clock.advance(10);
        return attemptedAt.length > index + 1;
      });
    }
    await waitUntil(async () => (await statusOf(open, body.id)) === 'completed');
  } finally {
    await worker.stop(5_000);
  }
});

test('an import whose file cannot be read for a day has failed, says why, and can be deleted', async () => {
  const clock = createFakeClock(NOW);
  await using open = await openTestApp({ system: { clock } });
  let runs = 0;
  const blobs = {
    ...open.app.blobs,
    open() {
      runs++;
      return Promise.reject(Object.assign(new Error('/data/blobs: i/o error'), { code: 'EIO' }));
    },
  };
  const worker = startImports({ ...open.app, blobs });
  try {
    const { body } = await sendCsv(open, '/v1/suppressions/imports', 'email\na@b.example\n');
    await waitUntil(async () => runs === 1);
    await clock.advance(DAY_MS);
    await waitUntil(async () => {
      await clock.advance(10_000);
      return (await statusOf(open, body.id)) === 'failed';
    });
    assert.ok(runs >= 10, String(runs));
    const { body: ended } = await open.request('GET', `/v1/imports/${body.id}`);
    assert.match(ended.error, /24 hours \(EIO\)/);
    // A write that waited while the clock was moved counts as a slow disk.
    await waitUntil(async () => open.app.db.pendingWrites === 0);
    const deleted = await open.request('DELETE', `/v1/imports/${body.id}`);
    assert.equal(deleted.status, 204, JSON.stringify(deleted.body));
  } finally {
    await worker.stop(5_000);
  }
});

test('an import whose file is lost for good fails', async () => {
  await using open = await openTestApp();
  await sendCsv(open, '/v1/suppressions/imports', `email,note\n${LARGE_ROWS}`);
  const [job] = await lease(open);
  assert.ok(job);
  for (const file of filesOf(open)) rmSync(join(open.dataDir, 'blobs', file.slice(0, 2), file));
  assert.equal(
    await runImport(
      { ...open.app, blobs: { ...open.app.blobs, discard: async () => {} } },
      importHandlers.suppressions,
      job,
      () => false,
    ),
    'failed',
  );
});

test('a tenant with many files does not delay another tenant', async () => {
  await using open = await openTestApp();
  const other = await open.addTenant('other');
  const file = `email\n${Array.from({ length: 2_000 }, (_, index) => `r${index}@b.example\n`).join('')}`;
  const path = '/v1/suppressions/imports';
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) ids.push((await sendCsv(open, path, file)).body.id);
  const { body: theirs } = await sendCsv({ ...open, testKey: other.testKey }, path, file);
  const worker = startImports(open.app);
  const ended = () =>
    open.app.db.read.selectFrom('jobs').select('id').where('finishedAt', 'is not', null).execute();
  await waitUntil(async () => (await ended()).some(({ id }) => id === theirs.id));
  assert.ok((await ended()).length <= 3);
  await waitUntil(async () => (await ended()).length === 6);
  await worker.stop(5_000);
});

test('a week after it has ended, an import is gone with its errors, and not before', async () => {
  const clock = createFakeClock(NOW);
  await using open = await openTestApp({ system: { clock } });
  const rows = 'no address\n'.repeat(2_500);
  const { id } = await importCsv(open, '/v1/suppressions/imports', `email\n${rows}`);
  const { body: waiting } = await sendCsv(open, '/v1/suppressions/imports', 'email\na@b.example\n');
  const sweep = createJobSweep(open.app);
  await clock.advance(7 * DAY_MS);
  await sweep.run('run');
  assert.equal(await statusOf(open, id), 'completed');
  await clock.advance(1);
  await sweep.run('run');
  assert.equal((await open.request('GET', `/v1/imports/${id}`)).status, 404);
  assert.equal((await open.request('GET', `/v1/imports/${id}/errors`)).status, 404);
  assert.deepEqual(await open.app.db.read.selectFrom('jobErrors').selectAll().execute(), []);
  assert.equal(await statusOf(open, waiting.id), 'queued');
});

function filesOf({ dataDir }: TestApp): string[] {
  const root = join(dataDir, 'blobs');
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((folder) => folder !== 'trash')
    .flatMap((folder) => readdirSync(join(root, folder)));
}

/** Rows of a file that is too large for the database. */
const LARGE_ROWS = Array.from(
  { length: 1_000 },
  (_, index) => `r${index}@b.example,${'x'.repeat(400)}\n`,
).join('');

test('a large file is on disk before the answer, and gone once the import has ended, however it did', async () => {
  await using open = await openTestApp();
  for (const [first, status] of [
    ['', 'completed'],
    ['a"b,\n', 'failed'],
  ] as const) {
    const path = '/v1/suppressions/imports';
    const { body } = await sendCsv(open, path, `email,note\n${first}${LARGE_ROWS}`);
    assert.equal(filesOf(open).length, 1);
    const [job] = await lease(open);
    assert.ok(job);
    assert.equal(await runImport(open.app, importHandlers.suppressions, job, () => false), status);
    assert.equal(await statusOf(open, body.id), status);
    assert.deepEqual(filesOf(open), []);
  }
});

test('the file of an import stays when the outcome of its commit is unknown, and is deleted when it was refused', async () => {
  await using open = await openTestApp();
  const file = Buffer.from(`email,note\n${LARGE_ROWS}`);
  const wanted = {
    tenantId: open.tenantId,
    kind: 'suppressions',
    audienceId: null,
    options: {},
    file,
  } as const;
  const create = (error: Error) =>
    createImport(
      { ...open.app, db: { ...open.app.db, read: open.app.db.read, commit: () => Promise.reject(error) } },
      importHandlers.suppressions,
      wanted,
    );
  const refusal = new AppError('unavailable', 'The disk is full');
  await assert.rejects(create(refusal), refusal);
  assert.deepEqual(filesOf(open), []);
  const lost = new Error('the database thread has ended');
  await assert.rejects(create(lost), lost);
  assert.equal(filesOf(open).length, 1);
});

test('the sweep removes the file that a crash leaves of an import that has ended', async () => {
  const clock = createFakeClock(NOW);
  await using open = await openTestApp({ system: { clock } });
  await sendCsv(open, '/v1/suppressions/imports', `email,note\n${LARGE_ROWS}`);
  const [job] = await lease(open);
  assert.ok(job);
  const app = { ...open.app, blobs: { ...open.app.blobs, discard: async () => {} } };
  assert.equal(await runImport(app, importHandlers.suppressions, job, () => false), 'completed');
  assert.equal(filesOf(open).length, 1);
  // A file is younger than an hour by its own time, which is the disk's.
  await clock.advance(Date.now() - NOW + 3 * 3_600_000);
  assert.equal((await open.app.blobs.sweep()).moved, 1);
  assert.deepEqual(filesOf(open), []);
});
