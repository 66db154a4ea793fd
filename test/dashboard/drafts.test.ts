/** What somebody has entered is there again after the session has ended, for its author alone. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { MAX_DRAFT_BYTES } from '../../src/dashboard/drafts/drafts.ts';
import { expireDrafts, MAX_DRAFTS } from '../../src/dashboard/drafts/store.ts';
import { firstKeptId } from '../../src/system/ids.ts';
import { type Browser, formsOf, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const DAY_MS = 24 * 3_600_000;
const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
beforeEach(() => clock.advance(1));

const { app } = testApp;
const NEW = '/t/default/test/templates/new';
const HTML = '<p>Half of <b>a letter</b> & "more"</p>';

async function enterLogin(browser: Browser, email: string): Promise<void> {
  await browser.submit('login', { email, password: PASSWORD });
}

/** Sends the form of a new template as a script does when it keeps a draft. */
function keep(browser: Browser, path: string, fields: Record<string, string>) {
  const body = new URLSearchParams({ _action: 'save', _once: 'x'.repeat(43), _draft: '1', ...fields });
  body.append('_action', 'keepDraft');
  return browser.send(path, { method: 'POST', body: String(body) });
}

const drafts = () => app.db.read.selectFrom('drafts').selectAll().orderBy('id').execute();

test('a form that is sent after the session has ended is there after the next login, and gone once it is sent', async () => {
  const email = 'ann@people.example';
  const browser = await logIn(testApp, { email });
  await browser.open(NEW);
  await clock.advance(8 * DAY_MS);
  await browser.submit('save', { name: 'Letter', subject: 'Hi', html: HTML });
  assert.equal(browser.page.url, `/login?to=${encodeURIComponent(NEW)}&said=draftKept`);
  assert.match(browser.page.html, /What you entered is kept: log in again/);
  assert.doesNotMatch((await drafts())[0]?.sealed ?? '', /letter/i);
  await enterLogin(browser, email);
  assert.equal(browser.page.url, NEW);
  assert.match(browser.page.html, /The form shows what you entered before, which was not sent\. Kept: <time/);
  const shown = formsOf(browser.page.html).find(({ values }) => values.get('name') === 'Letter');
  assert.equal(shown?.values.get('html'), HTML);
  await browser.submit('save', Object.fromEntries(shown?.values ?? []));
  assert.match(browser.page.url, /\/templates\/tpl_/, browser.page.html);
  assert.deepEqual(await drafts(), []);
  await browser.open(NEW);
  assert.doesNotMatch(browser.page.html, /Letter|which was not sent/);
});

test('nobody else gets the draft, also in the same browser, and its author throws it away', async () => {
  const email = 'bob@people.example';
  const browser = await logIn(testApp, { email });
  await logIn(testApp, { email: 'eve@people.example' });
  assert.equal((await keep(browser, NEW, { name: 'Private', html: HTML })).status, 204);
  await browser.submit('logout');
  await browser.open('/login');
  await enterLogin(browser, 'eve@people.example');
  assert.doesNotMatch((await browser.open(NEW)).html, /Private|which was not sent/);
  await browser.submit('logout');
  const elsewhere = await openBrowser(testApp);
  await elsewhere.open('/login');
  await enterLogin(elsewhere, email);
  assert.match((await elsewhere.open(NEW)).html, /Private/);
  const discarding = new URLSearchParams([
    ['_action', 'save'],
    ['_draft', '1'],
    ['_action', 'discardDraft'],
  ]);
  assert.match(elsewhere.page.html, /value="discardDraft"/);
  const thrown = await elsewhere.send(NEW, { method: 'POST', body: String(discarding) });
  assert.equal(thrown.headers['location'], `${NEW}?said=draftDiscarded`);
  assert.doesNotMatch((await elsewhere.open(NEW)).html, /Private/);
});

test('a session that was ended on purpose, an unknown one, and one that ended long ago keep nothing', async () => {
  const browser = await logIn(testApp);
  const cookie = browser.cookie();
  await browser.open('/account');
  await browser.submit('logout');
  const ended = await keep(await openBrowser(testApp), NEW, { name: 'Planted' });
  assert.equal(ended.headers['location'], '/login');
  const revoked = await (await openBrowser(testApp)).send(NEW, {
    method: 'POST',
    body: '_action=save&_draft=1&name=Planted',
    headers: { cookie },
  });
  assert.equal(revoked.headers['location'], '/login');
  const old = await logIn(testApp);
  await clock.advance(15 * DAY_MS);
  const late = await old.send(NEW, { method: 'POST', body: '_action=save&_draft=1&name=Planted' });
  assert.equal(late.headers['location'], '/login');
  assert.deepEqual(await drafts(), []);
});

test('a form that keeps no draft keeps none, and neither do secrets, files and what is too large', async () => {
  const email = 'sam@people.example';
  const browser = await logIn(testApp, { email });
  await browser.open('/account');
  await clock.advance(8 * DAY_MS);
  await browser.submit('password', { currentPassword: PASSWORD, newPassword: 'another long password' });
  assert.equal(browser.page.url, '/login');
  await enterLogin(browser, email);
  assert.equal((await keep(browser, NEW, { html: 'x'.repeat(MAX_DRAFT_BYTES) })).status, 404);
  assert.deepEqual(await drafts(), []);
  assert.equal((await keep(browser, NEW, { name: 'Kept', somePassword: 'secret' })).status, 204);
  assert.match((await browser.open(NEW)).html, /Kept/);
  const [draft] = await drafts();
  const opened = app.sealer.open(draft?.sealed ?? '', ['drafts', draft?.id ?? '', draft?.personId ?? '']);
  assert.equal(opened, '[["name","Kept"]]');
});

test('a draft is that of its page, replaces the one before, is bounded in number, and ends after a week', async () => {
  const browser = await logIn(testApp);
  const path = (index: number) => `/t/default/test/broadcasts/new?audienceId=aud_${index}`;
  await keep(browser, NEW, { name: 'First' });
  await clock.advance(1);
  await keep(browser, NEW, { name: 'Second' });
  const own = async () => (await drafts()).filter(({ address }) => address === NEW).length;
  const before = await own();
  assert.match((await browser.open(NEW)).html, /Second/);
  for (let index = 0; index < MAX_DRAFTS; index++) {
    await clock.advance(1);
    assert.equal((await keep(browser, path(index), { subject: `Number ${index}` })).status, 204);
  }
  assert.equal(await own(), before - 1, 'the oldest one made room');
  await clock.advance(7 * DAY_MS);
  const before7Days = firstKeptId('dft', clock.now(), 7);
  await app.db.commit(expireDrafts, { before: before7Days, after: '', rows: 1_000 });
  assert.deepEqual(await drafts(), []);
});

test('a script of a page of another version still keeps the draft, and a foreign site keeps none', async () => {
  const browser = await logIn(testApp);
  const body = '_action=save&_draft=1&name=Foreign&_action=keepDraft';
  const headers = { 'sec-fetch-site': 'cross-site' };
  assert.equal((await browser.send(NEW, { method: 'POST', body, headers })).status, 403);
  assert.equal((await browser.send(NEW, { method: 'POST', body })).status, 204);
});
