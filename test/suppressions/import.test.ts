import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exportCsv, importCsv } from '../imports/jobs.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

let open: TestApp;
before(async () => {
  open = await openTestApp();
});
after(() => open.close());

const IMPORTS = '/v1/suppressions/imports';
const EXPORTS = '/v1/suppressions/exports';

async function reasonOf(email: string): Promise<string> {
  return (await open.request('GET', `/v1/suppressions/${encodeURIComponent(email)}`)).body.reason;
}

test('a file becomes suppressions, with the reason of each row or that of the request', async () => {
  const job = await importCsv(
    open,
    `${IMPORTS}?reason=unsubscribe`,
    'Created,E-Mail,Reason\n2020,Ada@Example.com,Complaint\n2021,bob@example.com,\n,c@example.com,whatever\n,nobody,\n',
  );
  const { kind, audienceId, status, rows, created, updated, skipped, failed } = job;
  assert.deepEqual(
    { kind, audienceId, status, rows, created, updated, skipped, failed },
    {
      ...{ kind: 'suppressions', audienceId: null, status: 'completed' },
      ...{ rows: 4, created: 3, updated: 0, skipped: 0, failed: 1 },
    },
  );
  assert.equal(await reasonOf('ada@example.com'), 'complaint');
  assert.equal(await reasonOf('bob@example.com'), 'unsubscribe');
  assert.equal(await reasonOf('c@example.com'), 'unsubscribe', 'a reason that is not understood');
  const { body: errors } = await open.request('GET', `/v1/imports/${job.id}/errors`);
  assert.equal(
    errors,
    'line,email,error\r\n5,nobody,`email` must be one address such as ada@example.com\r\n',
  );
});

test('the stronger of two reasons is kept, and a row that changes nothing counts as skipped', async () => {
  await importCsv(open, IMPORTS, 'email,reason\nd@b.example,bounce\ne@b.example,bounce\nf@b.example,\n');
  const job = await importCsv(
    open,
    IMPORTS,
    'email,reason\nD@b.example,complaint\ne@b.example,manual\nf@b.example,\ne@b.example,bounce\n',
  );
  assert.deepEqual([job.created, job.updated, job.skipped], [0, 1, 3]);
  assert.equal(await reasonOf('d@b.example'), 'complaint');
  assert.equal(await reasonOf('e@b.example'), 'bounce');
  assert.equal(await reasonOf('f@b.example'), 'manual');
});

test('no events are recorded for suppressions of a file', async () => {
  await importCsv(open, IMPORTS, 'email\nquiet@b.example\n');
  assert.deepEqual(await open.app.db.read.selectFrom('events').selectAll().execute(), []);
});

test('an exported file can be imported without any change', async () => {
  await using other = await openTestApp();
  await importCsv(open, IMPORTS, 'email,reason\n+tag@b.example,bounce\n"a\'b@b.example",complaint\n');
  const { job, file } = await exportCsv(open, EXPORTS);
  assert.match(file, /^'\+tag@b\.example,bounce,,,\d{4}-/m);
  const imported = await importCsv(other, IMPORTS, file);
  assert.deepEqual([imported.created, imported.failed], [job.rows, 0]);
  const again = await exportCsv(other, EXPORTS);
  const known = (csv: string) =>
    csv
      .split('\r\n')
      .map((line) => line.split(',').slice(0, 2).join())
      .sort();
  assert.deepEqual(known(again.file), known(file));
  const times = (csv: string) => csv.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g)?.sort();
  assert.deepEqual(times(again.file), times(file), 'the times are kept');
});

test('an export of suppressions with a reason has no others', async () => {
  const { file } = await exportCsv(open, EXPORTS, { reason: 'unsubscribe' });
  assert.deepEqual(file.match(/^.*?@/gm)?.sort(), ['bob@', 'c@']);
});
