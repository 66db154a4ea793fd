import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RowCounts } from '../../src/imports/progress.ts';
import { BATCH_CELLS, BATCH_ROWS } from '../../src/imports/run.ts';
import { completeImport } from '../../src/imports/store.ts';
import type { RunningJob } from '../../src/jobs/store.ts';
import { AppError } from '../../src/system/errors.ts';
import { releaseTasksOf } from '../support/tasks.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { importHandlers, lease, newAudience, runImport, sendCsv } from './jobs.ts';

let open: TestApp;
before(async () => {
  open = await openTestApp();
});
after(() => open.close());

const ROWS = 4 * BATCH_ROWS + 7;
/** Each address comes twice, one row in five is none, and lines differ in length. */
const FILE = `email,n\n${Array.from({ length: ROWS }, (_, index) =>
  index % 5 === 4
    ? `no address,${index}\n`
    : `reader${index % (ROWS / 2)}@b.example,${'x'.repeat(index % 90)}\n`,
).join('')}`;

async function send(): Promise<{ id: string; audienceId: string }> {
  const audienceId = await newAudience(open);
  const { body } = await sendCsv(open, `/v1/audiences/${audienceId}/contacts/imports`, FILE);
  return { id: body.id, audienceId };
}

async function take(): Promise<RunningJob> {
  const [job] = await lease(open);
  assert.ok(job);
  return job;
}

async function outcome(id: string) {
  const { status, rows, created, updated, skipped, failed } = (await open.request('GET', `/v1/imports/${id}`))
    .body;
  const errors = (await open.request('GET', `/v1/imports/${id}/errors`)).body;
  return { status, rows, created, updated, skipped, failed, errors };
}

async function contactsOf(audienceId: string) {
  return open.app.db.read
    .selectFrom('contacts')
    .select(['address', 'properties'])
    .where('audienceId', '=', audienceId as 'aud_')
    .orderBy('address')
    .execute();
}

test('an import that is stopped between any two writes ends as one that was not', async () => {
  const whole = await send();
  assert.equal(await runImport(open.app, importHandlers.contacts, await take(), () => false), 'completed');
  const expected = await outcome(whole.id);
  assert.equal(expected.rows, ROWS);
  assert.equal(expected.rows, sum(expected));

  const stopped = await send();
  const ends: string[] = [];
  do {
    let asked = 0;
    ends.push(await runImport(open.app, importHandlers.contacts, await take(), () => asked++ > 0));
    const soFar = await outcome(stopped.id);
    assert.equal(soFar.rows, Math.min(ends.length * BATCH_ROWS, ROWS));
    assert.equal(soFar.rows, sum(soFar));
    await releaseTasksOf(open.app, 'imports');
  } while (ends.at(-1) === 'stopped');
  assert.deepEqual(ends, ['stopped', 'stopped', 'stopped', 'stopped', 'completed']);
  assert.deepEqual(await outcome(stopped.id), expected);
  assert.deepEqual(await contactsOf(stopped.audienceId), await contactsOf(whole.audienceId));
});

function sum({ created, updated, skipped, failed }: RowCounts): number {
  return created + updated + skipped + failed;
}

test('each write counts once when two runs work on one job', async () => {
  const { id, audienceId } = await send();
  const job = await take();
  const ends = await Promise.all(
    [1, 2].map(() => runImport(open.app, importHandlers.contacts, job, () => false)),
  );
  assert.deepEqual(ends.sort(), ['completed', 'stale']);
  const ended = await outcome(id);
  assert.equal(ended.rows, ROWS);
  assert.equal(ended.rows, sum(ended));
  const { body } = await open.request('GET', `/v1/audiences/${audienceId}`);
  assert.equal(body.contactCount, ended.created);
});

test('a run that was overtaken does not end the job', async () => {
  const { id } = await send();
  const job = await take();
  let asked = 0;
  await runImport(open.app, importHandlers.contacts, job, () => asked++ > 0);
  const completion = { lease: job.lease, rows: 0, now: open.app.clock.now() };
  assert.equal((await open.app.db.commit(completeImport, completion)).wasEnded, false);
  assert.equal((await outcome(id)).status, 'running');
  const overtaken = { ...job, rows: 2 * BATCH_ROWS };
  assert.equal(await runImport(open.app, importHandlers.contacts, overtaken, () => false), 'stale');
  assert.equal((await outcome(id)).rows, BATCH_ROWS);
  const [, ...rows] = FILE.split('\n', BATCH_ROWS + 1);
  assert.equal((await outcome(id)).failed, rows.filter((row) => row.startsWith('no')).length);
  const goingOn = { ...job, rows: BATCH_ROWS };
  assert.equal(await runImport(open.app, importHandlers.contacts, goingOn, () => false), 'completed');
});

test('a write has fewer rows when rows are wide, because all other writes wait for it', async () => {
  const topics: string[] = [];
  while (topics.length < 99) {
    topics.push((await open.request('POST', '/v1/topics', { body: { name: 'News' } })).body.id);
  }
  const row = topics.map(() => 'yes').join();
  const file = `email,${topics.map((id) => `topics.${id}`)}\n${Array.from({ length: 120 }, (_, index) => `r${index}@b.example,${row}\n`).join('')}`;
  const audienceId = await newAudience(open);
  await sendCsv(open, `/v1/audiences/${audienceId}/contacts/imports`, file);
  const { db } = open.app;
  const sizes: number[] = [];
  const commit: typeof db.commit = (write, input) => {
    if (write.name === importHandlers.contacts.write.name)
      sizes.push((input as { rows: unknown[] }).rows.length);
    return db.commit(write, input);
  };
  const app = { ...open.app, db: { ...db, read: db.read, commit } };
  assert.equal(await runImport(app, importHandlers.contacts, await take(), () => false), 'completed');
  const most = BATCH_CELLS / (1 + topics.length);
  assert.deepEqual(sizes, [most, most, 120 - 2 * most]);
});

test('a job that has ended is not run again, and its file is gone', async () => {
  const { id } = await send();
  const job = await take();
  await runImport(open.app, importHandlers.contacts, job, () => false);
  const ended = await outcome(id);
  assert.deepEqual(await lease(open), []);
  assert.equal(
    await runImport(open.app, importHandlers.contacts, job, () => false).catch(() => 'no file'),
    'stale',
  );
  assert.deepEqual(await outcome(id), ended);
  const file = await open.app.db.read
    .selectFrom('blobs')
    .select(['sizeBytes', 'data'])
    .where('id', '=', job.blobId ?? 'blob_')
    .executeTakeFirstOrThrow();
  assert.deepEqual([file.sizeBytes, file.data?.byteLength], [0, 0]);
});

test('a job that the full disk stopped can be leased again', async () => {
  const { id } = await send();
  const job = await take();
  const { db } = open.app;
  const commit: typeof db.commit = (write, input) =>
    write.name === importHandlers.contacts.write.name
      ? Promise.reject(new AppError('unavailable', 'full'))
      : db.commit(write, input);
  const app = { ...open.app, db: { ...db, read: db.read, commit } };
  await assert.rejects(
    runImport(app, importHandlers.contacts, job, () => false),
    /full/,
  );
  assert.deepEqual((await outcome(id)).status, 'running');
  await releaseTasksOf(open.app, 'imports');
  assert.equal((await take()).id, job.id);
});

test('a bug ends the job in words that say nothing of it', async () => {
  const { id } = await send();
  const job = await take();
  const broken = {
    ...importHandlers.contacts,
    readHeadings: () => Promise.reject(new TypeError('x is undefined')),
  };
  assert.equal(await runImport(open.app, broken, job, () => false), 'failed');
  const { body } = await open.request('GET', `/v1/imports/${id}`);
  assert.match(body.error, /^The server failed to process the request/);
});
