/** What the server does for the scripts of its pages, which send forms and ask for parts of pages. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formsOf, logIn, openBrowser } from '../support/browser.ts';
import { openTestApp } from '../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const ACCOUNT = '/account';

const versionIn = (html: string) => /<meta name="version" content="([^"]+)"/.exec(html)?.[1] ?? '';

/** Returns the form of the account's profile, with another name. */
function profileOf(html: string, name: string): string {
  const form = formsOf(html).find(({ values }) => values.get('_action') === 'profile');
  const values = new URLSearchParams(form?.values);
  values.set('name', name);
  return String(values);
}

test('a script that sends a form is told where to go, and does not follow by itself', async () => {
  const browser = await logIn(testApp);
  const { html } = await browser.open(ACCOUNT);
  const headers = { 'x-dashboard-version': versionIn(html) };
  const sent = await browser.send(ACCOUNT, { method: 'POST', body: profileOf(html, 'Anna'), headers });
  assert.deepEqual([sent.status, sent.headers['location'], sent.html], [204, '/account?said=saved', '']);
  assert.equal(sent.headers['x-dashboard-version'], versionIn(html));
});

test('a form of a page of another version does nothing, and says so', async () => {
  const browser = await logIn(testApp);
  const { html } = await browser.open(ACCOUNT);
  assert.match(versionIn(html), /^\d+\.\d+\.\d+-[0-9a-f]{16}$/);
  const headers = { 'x-dashboard-version': '0.0.1-before' };
  const sent = await browser.send(ACCOUNT, { method: 'POST', body: profileOf(html, 'Zoe'), headers });
  assert.equal(sent.status, 409);
  assert.match(sent.html, /class="failure">The program was updated after this page was loaded/);
  assert.equal(sent.headers['x-dashboard-version'], versionIn(html));
  assert.doesNotMatch((await browser.open(ACCOUNT)).html, /Zoe/);
});

test('a script is led to the page to log in when the session has ended, by both kinds of its requests', async () => {
  const browser = await openBrowser(testApp);
  const headers = { 'x-dashboard-version': versionIn((await browser.open('/login')).html) };
  const sent = await browser.send(ACCOUNT, { method: 'POST', body: '_action=profile', headers });
  assert.deepEqual([sent.status, sent.headers['location']], [204, '/login']);
  const part = await browser.send(ACCOUNT, { method: 'GET', headers: { 'hx-request': 'true' } });
  assert.deepEqual([part.status, part.headers['hx-redirect']], [204, '/login?to=%2Faccount']);
});
