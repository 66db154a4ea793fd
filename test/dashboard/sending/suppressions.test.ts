/** The pages of suppressions: searching, adding many, deleting, importing and exporting. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { exportJobs } from '../../../src/exports/run.ts';
import { importJobs } from '../../../src/imports/run.ts';
import { createJobKind } from '../../../src/jobs/run.ts';
import { startTasks } from '../../../src/tasks/engine.ts';
import { exportHandlers, importHandlers } from '../../imports/jobs.ts';
import { type Browser, formsOf, logIn, openBrowser } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';
import { waitUntil } from '../../support/wait-until.ts';

const testApp = await openTestApp();
after(() => testApp.close());

const SUPPRESSIONS = '/t/default/test/suppressions';

/** Runs imports and exports until the test ends. */
function startJobs(t: TestContext): void {
  const { app } = testApp;
  const kinds = [
    createJobKind(app, importJobs(app, importHandlers)),
    createJobKind(app, exportJobs(app, exportHandlers)),
  ];
  const worker = startTasks(app, kinds);
  t.after(() => worker.stop(5_000));
}

/** Opens the page of a job until the job has ended. */
async function waitForEnd(browser: Browser, page: string): Promise<void> {
  await waitUntil(async () => !(await browser.open(page)).html.includes('hx-trigger'));
  assert.match(browser.page.html, /completed/);
}

/** Sends a form with a file, as a browser does. */
async function upload(browser: Browser, fields: Record<string, string>, content: string) {
  const [form] = formsOf(browser.page.html).filter(({ values }) => values.get('_action') === 'import');
  const boundary = 'boundary0123456789';
  const values = { ...Object.fromEntries(form?.values ?? []), ...fields };
  const parts = Object.entries(values).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="list.csv"\r\nContent-Type: text/csv\r\n\r\n`;
  return browser.send(`${SUPPRESSIONS}/files`, {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: `${parts.join('')}${head}${content}\r\n--${boundary}--\r\n`,
  });
}

test('many addresses are added from a text, and those that are refused are named with the reason', async () => {
  const owner = await logIn(testApp);
  await owner.open(`${SUPPRESSIONS}/add`);
  const numbered = Array.from({ length: 150 }, (_, index) => `reader${index}@example.com`).join('\r\n');
  await owner.submit('add', {
    emails: `${numbered}\r\nnobody@, Reader0@EXAMPLE.com\r\n`,
    reason: 'complaint',
  });
  const facts = [...owner.page.html.matchAll(/<dt>([^<]*)<\/dt><dd>(\d+)<\/dd>/g)].map(([, ...fact]) => fact);
  assert.deepEqual(facts, [
    ['New', '150'],
    ['Suppressed before', '1'],
    ['Refused', '1'],
  ]);
  assert.match(owner.page.html, /nobody@/);
  const { body } = await testApp.request('GET', '/v1/suppressions?email=reader149@example.com');
  assert.equal(body.data[0].reason, 'complaint');
});

test('more addresses than one text may have are refused, and the text is kept', async () => {
  const owner = await logIn(testApp);
  await owner.open(`${SUPPRESSIONS}/add`);
  const emails = Array.from({ length: 1001 }, (_, index) => `many${index}@example.com`).join('\n');
  const refused = await owner.submit('add', { emails });
  assert.equal(refused.status, 422);
  assert.match(refused.html, /At most 1000 addresses/);
  assert.match(refused.html, /many1000@example.com/);
  const { body } = await testApp.request('GET', '/v1/suppressions?email=many0@example.com');
  assert.deepEqual(body.data, []);
});

test('a search finds an address in any case, and says what is wrong with one that is none', async () => {
  await testApp.request('POST', '/v1/suppressions', {
    body: { email: 'wanted@example.com', reason: 'bounce' },
  });
  const viewer = await logIn(testApp, { role: 'viewer' });
  await viewer.open(`${SUPPRESSIONS}?email=WANTED%40Example.com`);
  assert.match(viewer.page.html, /wanted@example.com/);
  assert.ok(!viewer.page.html.includes('value="delete"'));
  await viewer.open(`${SUPPRESSIONS}?email=wanted%40Example.com&reason=manual`);
  assert.match(viewer.page.html, /Nothing matches these filters/);
  const wrong = await viewer.open(`${SUPPRESSIONS}?email=wanted`);
  assert.equal(wrong.status, 200);
  assert.match(wrong.html, /role="alert"[^>]*>“Address” /);
  assert.match(wrong.html, /value="wanted"/);
});

test('a deleted suppression is gone, and the list stays where it was', async () => {
  const { body } = await testApp.request('POST', '/v1/suppressions', {
    body: { email: 'again@example.com', reason: 'unsubscribe' },
  });
  const admin = await logIn(testApp, { role: 'admin' });
  await admin.open(`${SUPPRESSIONS}?email=again%40example.com`);
  assert.match(admin.page.html, /although its owner has unsubscribed/);
  await admin.submit('delete', { id: body.id });
  assert.equal(admin.page.url, `${SUPPRESSIONS}?email=again%40example.com&said=allowedAgain`);
  assert.equal((await testApp.request('GET', `/v1/suppressions/${body.id}`)).status, 404);
});

test('a file is imported with progress, and its refused rows are a file', async (t) => {
  const owner = await logIn(testApp);
  await owner.open(`${SUPPRESSIONS}/files`);
  const sent = await upload(
    owner,
    { reason: 'unsubscribe' },
    'email,reason\r\nfile1@example.com,complaint\r\nfile2@example.com,\r\nnobody@,\r\n',
  );
  assert.equal(sent.status, 303, sent.html);
  const page = String(sent.headers['location']);
  await owner.open(page);
  assert.match(owner.page.html, /hx-trigger="changed, every 15s"/);
  assert.match(owner.page.html, new RegExp(`<a href="${page}">Reload</a>`));
  startJobs(t);
  await waitForEnd(owner, page);
  const errors = await owner.send(`${page}/errors`, { method: 'GET' });
  assert.match(
    String(errors.headers['content-disposition']),
    /^attachment; filename\*=UTF-8''imp_\w+-errors.csv$/,
  );
  assert.match(errors.html, /^line,email,error\r\n4,nobody@,/);
  const { body } = await testApp.request('GET', '/v1/suppressions?email=file2@example.com');
  assert.equal(body.data[0].reason, 'unsubscribe');
});

test('a file of somebody who is not logged in is not read', async () => {
  const stranger = await openBrowser(testApp);
  const answer = await stranger.send(`${SUPPRESSIONS}/files`, {
    method: 'POST',
    // The body would be refused as unreadable.
    headers: { 'content-type': 'multipart/form-data' },
    body: 'x'.repeat(100_000),
  });
  assert.equal(answer.status, 303);
  assert.equal(answer.headers['location'], '/login');
});

test('a form without a file is refused beside its button', async () => {
  const owner = await logIn(testApp);
  await owner.open(`${SUPPRESSIONS}/files`);
  const refused = await upload(owner, { reason: 'manual' }, '');
  assert.equal(refused.status, 422);
  assert.match(refused.html, /id="import-refused"[^>]*>Choose a file/);
});

test('an export is downloaded once its file is there', async (t) => {
  await testApp.request('POST', '/v1/suppressions', { body: { email: 'out@example.com', reason: 'bounce' } });
  const owner = await logIn(testApp);
  await owner.open(`${SUPPRESSIONS}/files`);
  await owner.submit('export', { reason: 'bounce' });
  const page = owner.page.url;
  startJobs(t);
  await waitForEnd(owner, page);
  const file = await owner.send(`${page}/file`, { method: 'GET' });
  assert.match(file.html, /^email,reason,.*\nout@example.com,bounce,/s);
  assert.match(String(file.headers['content-disposition']), /suppressions.csv/);
  await owner.open(`${SUPPRESSIONS}/files`);
  assert.match(owner.page.html, new RegExp(`href="${page}"`));
});
