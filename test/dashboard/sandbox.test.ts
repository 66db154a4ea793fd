/** The pages for developers: the log of requests, and the reply of the simulator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logIn } from '../support/browser.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { openTestApp } from '../support/test-app.ts';

const closing = closeAfterTests();
const testApp = closing(await openTestApp());

test('the log shows the requests of keys of its mode, and its filters stand in the address', async () => {
  await testApp.request('GET', '/v1/topics?secret=1');
  await testApp.request('GET', '/v1/nothing-here');
  const browser = await logIn(testApp);
  const { html } = await browser.open('/t/default/test/requests');
  assert.match(html, /GET <bdi[^>]*>\/v1\/topics<\/bdi>/);
  assert.match(html, /<a href="\/t\/default\/test\/keys\/key_/);
  assert.doesNotMatch(html, /secret=1/);
  const { html: errors } = await browser.open('/t/default/test/requests?status=4xx');
  assert.doesNotMatch(errors, /\/v1\/topics</);
  assert.match((await browser.open('/t/default/live/requests')).html, /No requests yet/);
});

test('the log is filtered by the name of a key, and by the id of one that the person does not see', async () => {
  const owner = await logIn(testApp);
  const { html } = await owner.open('/t/default/test/requests');
  const [, id = ''] = /<option value="(key_\w+)">test key \(…\w+…\)<\/option>/.exec(html) ?? [];
  assert.match((await owner.open(`/t/default/test/keys/${id}`)).html, new RegExp(`requests\\?keyId=${id}`));
  assert.match((await owner.open(`/t/default/test/requests?keyId=${id}`)).html, /\/v1\/topics</);
  const { html: gone } = await owner.open('/t/default/test/requests?keyId=key_gone');
  assert.match(gone, /<option value="key_gone" selected/);
  const viewer = await logIn(testApp, { role: 'viewer' });
  assert.match(
    (await viewer.open('/t/default/test/requests')).html,
    /ID of the API key<input type="search" name="keyId"/,
  );
});

test('the reply of the simulator is chosen and removed in test mode, and refused with its reason', async () => {
  const browser = await logIn(testApp);
  await browser.open('/t/default/test/simulator');
  await browser.submit('set', { code: '999' });
  assert.match(browser.page.html, /role="alert"/);
  await browser.submit('set', {
    code: '452',
    enhancedCode: '4.2.2',
    text: 'Mailbox full',
    recipients: 'all',
  });
  assert.match(browser.page.html, /452 4\.2\.2 Mailbox full/);
  const { body } = await testApp.request('GET', '/v1/simulator/reply');
  assert.deepEqual([body.reply.code, body.reply.recipients], [452, 'all']);
  await browser.submit('remove');
  assert.equal((await testApp.request('GET', '/v1/simulator/reply')).body.reply, null);
  assert.match(
    (await browser.open('/t/default/live/simulator')).html,
    /<a href="\/t\/default\/test\/simulator">[^<]*belongs to test mode/,
  );
});
