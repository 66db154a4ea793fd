/** Files of contacts in the dashboard: uploaded, looked at, mapped, imported, and exported again. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { contactExport } from '../../../src/audiences/csv/export.ts';
import { contactImport } from '../../../src/audiences/csv/import.ts';
import { lease, newAudience, runExport, runImport } from '../../imports/jobs.ts';
import { logIn } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const browser = await logIn(testApp);
const AT = '/t/default/test';
const FILE = 'Mail,Given name,Level,<b>Note\nada@example.com,Ada,pro,x\nnobody,No,free,y\n';

async function upload(audienceId: string) {
  await browser.open(`${AT}/audiences/${audienceId}/import`);
  await browser.upload('upload', { field: 'file', name: 'readers.csv', content: FILE });
  assert.equal(browser.page.status, 200, browser.page.html);
}

test('a file is mapped, looked at again, imported, and its refused rows are a file', async () => {
  const audienceId = await newAudience(testApp);
  await upload(audienceId);
  assert.match(browser.page.html, /2 rows were checked; 1 of them would be refused/);
  assert.match(browser.page.html, /Column 4: &lt;b>Note/);
  await browser.submit('start', {
    _action: ['start', 'look'],
    'field.3': 'property',
    'key.3': 'tier',
    'field.4': '',
  });
  assert.match(browser.page.html, /tier: pro/);
  assert.doesNotMatch(browser.page.html, /Note: x/);
  await browser.submit('start', { onConflict: 'skip' });
  const id = /imp_\w+/.exec(browser.page.url)?.[0];
  assert.match(
    browser.page.html,
    /data-topic="\/t\/default\/test\/work\/\w+\/\w+" hx-trigger="changed, every 15s"/,
  );
  for (const job of await lease(testApp)) await runImport(testApp.app, contactImport, job);
  await browser.open(`${AT}/imports/${id}`);
  assert.match(browser.page.html, /completed/);
  assert.doesNotMatch(browser.page.html, /hx-trigger/);
  const errors = await browser.open(`${AT}/imports/${id}/errors`);
  assert.match(errors.html, /^line,email,error\r\n3,nobody,/);
  assert.match(String(errors.headers['content-disposition']), /^attachment/);
  const { body } = await testApp.request('GET', `/v1/audiences/${audienceId}/contacts`);
  assert.deepEqual(body.data[0].properties, { tier: 'pro' });
  assert.equal(body.data[0].firstName, 'Ada');
});

test('what the preview says names fields as the page does, and nothing twice', async () => {
  await upload(await newAudience(testApp));
  assert.match(browser.page.html, /“Email address” must be one address/);
  assert.doesNotMatch(browser.page.html, /`e(?:mail|rrors)`/);
  assert.match(browser.page.html, /<label[^>]*>Becomes<\/label>/);
});

test('a mapping without an address is refused beside the button, and what was chosen stays', async () => {
  await upload(await newAudience(testApp));
  await browser.submit('start', { 'field.1': '', 'field.2': 'lastName' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /id="start-refused"/);
  assert.match(browser.page.html, /<option selected[^>]*value="lastName"|value="lastName" selected/);
});

test('a form without a file says so, and a file that is discarded is gone', async () => {
  const audienceId = await newAudience(testApp);
  await browser.open(`${AT}/audiences/${audienceId}/import`);
  await browser.submit('upload');
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /Choose a file/);
  await upload(audienceId);
  await browser.submit('discard');
  const { body } = await testApp.request('GET', `/v1/imports?audienceId=${audienceId}`);
  assert.deepEqual(body.data, []);
});

test('an export leads to its file, which only its own tenant reads', async () => {
  const audienceId = await newAudience(testApp);
  await testApp.request('POST', `/v1/audiences/${audienceId}/contacts`, {
    body: { email: 'ada@example.com' },
  });
  await browser.open(`${AT}/audiences/${audienceId}`);
  await browser.submit('export', { unsubscribed: 'false' });
  const path = browser.page.url;
  for (const job of await lease(testApp, 'export')) await runExport(testApp.app, contactExport, job);
  await browser.open(path);
  assert.match(browser.page.html, /Download the file/);
  const file = await browser.open(`${path}/file`);
  assert.match(file.html, /^email,.*\r\nada@example\.com,/s);
  const stranger = await testApp.addTenant('stranger');
  const other = await logIn(testApp, { tenantId: stranger.tenantId });
  const foreign = `/t/stranger/test${path.slice(AT.length)}`;
  assert.equal((await other.open(foreign)).status, 404);
  assert.equal((await other.open(`${foreign}/file`)).status, 404);
});
