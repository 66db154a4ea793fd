import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { MAX_WAITING_JOBS } from '../../src/jobs/store.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { importCsv, lease, newAudience, sendCsv } from './jobs.ts';

let open: TestApp;
before(async () => {
  open = await openTestApp();
});
after(() => open.close());

const PATH = '/v1/suppressions/imports';

test('a file that is sent is answered with its job, and so is every question for it', async () => {
  const audienceId = await newAudience(open);
  const file = 'email\na@b.example\n';
  const sent = await sendCsv(open, `/v1/audiences/${audienceId}/contacts/imports`, file);
  assert.equal(sent.status, 202);
  const { id, createdAt, ...job } = sent.body;
  assert.match(id, /^imp_/);
  assert.ok(Date.parse(createdAt) > 0);
  assert.deepEqual(job, {
    ...{ kind: 'contacts', audienceId, status: 'queued', error: null },
    ...{ sizeBytes: file.length, processedBytes: 0 },
    ...{ rows: 0, created: 0, updated: 0, skipped: 0, failed: 0 },
    ...{ startedAt: null, finishedAt: null },
  });
  assert.deepEqual((await open.request('GET', `/v1/imports/${id}`)).body, sent.body);
  const { body: errors } = await open.request('GET', `/v1/imports/${id}/errors`);
  assert.equal(errors, 'line,email,error\r\n');
});

test('imports are listed in pages, newest first', async () => {
  await using lists = await openTestApp();
  const ids: string[] = [];
  for (let index = 0; index < 3; index++) ids.unshift((await sendCsv(lists, PATH, 'email\n')).body.id);
  const ordered = ids.toSorted().reverse();
  const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);
  const { body: first } = await lists.request('GET', '/v1/imports?limit=2');
  assert.deepEqual([idsOf(first), first.hasMore], [ordered.slice(0, 2), true]);
  const { body: rest } = await lists.request('GET', `/v1/imports?startingAfter=${first.nextCursor}`);
  assert.deepEqual([idsOf(rest), rest.hasMore, rest.nextCursor], [ordered.slice(2), false, null]);
});

test('jobs are listed by how they stand, their kind and the audience they are about', async () => {
  await using lists = await openTestApp();
  const [one, other] = [await newAudience(lists, 'One'), await newAudience(lists, 'Other')];
  const contacts = (id: string) => `/v1/audiences/${id}/contacts`;
  for (const jobs of ['imports', 'exports']) {
    const ids: string[] = [];
    for (const list of [contacts(one), contacts(other), '/v1/suppressions']) {
      const path = `${list}/${jobs}`;
      const sent =
        jobs === 'imports' ? sendCsv(lists, path, 'email\n') : lists.request('POST', path, { body: {} });
      ids.push((await sent).body.id);
    }
    const [ofOne, ofOther, ofNone] = ids;
    for (const [query, expected] of [
      ['kind=contacts', [ofOther, ofOne]],
      ['kind=suppressions', [ofNone]],
      [`audienceId=${one}`, [ofOne]],
      [`audienceId=${other}&kind=contacts`, [ofOther]],
      [`audienceId=${one}&kind=suppressions`, []],
      ['audienceId=aud_1', []],
      ['status=queued', ids],
      ['status=completed', []],
      ['status=queued&kind=suppressions', [ofNone]],
    ] as const) {
      const { body } = await lists.request('GET', `/v1/${jobs}?${query}`);
      const found = body.data.map(({ id }: { id: string }) => id).sort();
      assert.deepEqual(found, expected.toSorted(), `${jobs} ${query}`);
    }
    for (const [param, value] of [
      ['kind', 'topics'],
      ['status', 'done'],
    ]) {
      const { status, body } = await lists.request('GET', `/v1/${jobs}?${param}=${value}`);
      assert.deepEqual([status, body.error.param], [400, param]);
    }
  }
});

test('a file of one line is refused, unless it is a complete heading', async () => {
  for (const file of ['email', 'email,reasonada@example.com', Buffer.from('\ufeffemail', 'utf16le')]) {
    const { status, body } = await sendCsv(open, PATH, file);
    assert.deepEqual([status, body.error.type], [400, 'validation_error']);
    assert.match(body.error.message, /^The file has only one line, so it has no rows\. .* --data-binary$/);
  }
  for (const file of ['email\r', 'email\r\n']) assert.equal((await importCsv(open, PATH, file)).rows, 0);
});

test('the first ten thousand errors are kept, and all are counted', async () => {
  const job = await importCsv(open, PATH, `email\n${'x'.repeat(300)}\n${'no address\n'.repeat(10_200)}`);
  assert.deepEqual([job.status, job.rows, job.failed], ['completed', 10_201, 10_201]);
  const { body, headers } = await open.request('GET', `/v1/imports/${job.id}/errors`);
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8');
  assert.equal(headers['content-disposition'], `attachment; filename="${job.id}-errors.csv"`);
  const lines = body.split('\r\n').slice(1, -1);
  assert.deepEqual(
    lines.map((line: string) => Number(line.split(',')[0])),
    Array.from({ length: 10_000 }, (_, index) => index + 2),
  );
  assert.equal(lines[0].split(',')[1], 'x'.repeat(254));
});

test('a tenant may have so many imports that wait, and a file that is refused leaves nothing', async () => {
  await using waiting = await openTestApp();
  for (let index = 0; index < MAX_WAITING_JOBS; index++) {
    assert.equal((await sendCsv(waiting, PATH, 'email\n')).status, 202);
  }
  const large = `email\n${'a@b.example\n'.repeat(30_000)}`;
  const refused = await sendCsv(waiting, PATH, large);
  assert.deepEqual([refused.status, refused.body.error.type], [400, 'validation_error']);
  assert.match(refused.body.error.message, /^You have 10 unfinished imports, which is the maximum/);
  const blobs = await waiting.app.db.read.selectFrom('blobs').select('id').execute();
  assert.equal(blobs.length, MAX_WAITING_JOBS);
  const folders = readdirSync(join(waiting.dataDir, 'blobs'));
  const files = folders.flatMap((folder) => readdirSync(join(waiting.dataDir, 'blobs', folder)));
  assert.deepEqual(files, []);
  const other = await waiting.addTenant('other');
  assert.equal((await sendCsv({ ...waiting, testKey: other.testKey }, PATH, 'email\n')).status, 202);
});

test('an import that has ended is deleted with its errors, and what it brought stays', async () => {
  await using jobs = await openTestApp();
  const { id, failed } = await importCsv(jobs, PATH, `email\na@b.example\n${'no address\n'.repeat(2_500)}`);
  assert.equal(failed, 2_500);
  const { body: waiting } = await sendCsv(jobs, PATH, 'email\n');
  const other = await jobs.addTenant('other');
  const theirs = await jobs.request('DELETE', `/v1/imports/${id}`, { key: other.testKey });
  assert.equal(theirs.status, 404);
  assert.equal((await jobs.request('DELETE', `/v1/imports/${id}`)).status, 204);
  for (const [method, path] of [
    ['DELETE', `/v1/imports/${id}`],
    ['GET', `/v1/imports/${id}`],
    ['GET', `/v1/imports/${id}/errors`],
  ] as const) {
    const { status, body } = await jobs.request(method, path);
    assert.deepEqual([status, body.error.message], [404, 'Import not found'], `${method} ${path}`);
  }
  assert.deepEqual((await jobs.request('GET', '/v1/imports')).body.data, [waiting]);
  assert.deepEqual(await jobs.app.db.read.selectFrom('jobErrors').selectAll().execute(), []);
  assert.equal((await jobs.request('GET', '/v1/suppressions/a@b.example')).status, 200);
});

test('an import that waits or is at work is not deleted', async () => {
  await using jobs = await openTestApp();
  const { body: job } = await sendCsv(jobs, PATH, 'email\na@b.example\n');
  for (const status of ['queued', 'running']) {
    const refused = await jobs.request('DELETE', `/v1/imports/${job.id}`);
    assert.deepEqual([refused.status, refused.body.error.type], [409, 'invalid_state']);
    assert.match(refused.body.error.message, new RegExp(`The import is ${status};`));
    if (status === 'queued') assert.equal((await lease(jobs)).length, 1);
  }
  assert.equal((await jobs.request('GET', `/v1/imports/${job.id}`)).body.status, 'running');
});
