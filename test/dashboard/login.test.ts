/** Logging in to the dashboard: links, passwords, one-time codes, sessions, and what must not let anybody in. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { makeSetUpLink } from '../../src/dashboard/people/admin-api.ts';
import { logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const { app } = testApp;

const MINUTE_MS = 60_000;

async function setUpPath(): Promise<string> {
  const url = await makeSetUpLink(app, 'http://127.0.0.1:8025');
  assert.match(url ?? '', /^https:..mx.postrider.example.link.[\w-]{43}$/);
  return new URL(url ?? '').pathname;
}

test('the first link makes the operator, works once, and then there is none any more', async () => {
  const path = await setUpPath();
  const browser = await openBrowser(testApp);
  assert.match((await browser.open('/login')).html, /Nobody operates this installation yet/);
  await browser.open(path);
  assert.match(browser.page.html, /Set up the dashboard/);
  await browser.submit('enter', { name: 'Olga', email: 'Olga@Example.COM', password: PASSWORD });
  assert.equal(browser.page.url, '/t/default/live');
  assert.match(browser.page.html, /Olga/);
  const other = await openBrowser(testApp);
  await other.open(path);
  assert.match(other.page.html, /does not work any more/);
  assert.doesNotMatch((await other.open('/login')).html, /Nobody operates/);
  assert.equal(await makeSetUpLink(app, 'http://127.0.0.1:8025'), undefined);
});

test('the first link ends when somebody else becomes the operator meanwhile', async () => {
  const fresh = await openTestApp();
  const url = await makeSetUpLink(fresh.app, 'http://127.0.0.1:8025');
  await logIn(fresh, { isOperator: true });
  const browser = await openBrowser(fresh);
  await browser.open(new URL(url ?? '').pathname);
  assert.match(browser.page.html, /does not work any more/);
  await fresh.close();
});

test('a link that nobody has used for half an hour does not work any more', async () => {
  const browser = await logIn(testApp);
  await browser.open('/t/default/live/team');
  await browser.submit('invite', { email: 'late@people.example', role: 'viewer' });
  const [, path = ''] = /(\/link\/[\w-]+)/.exec(browser.page.html) ?? [];
  await clock.advance(30 * MINUTE_MS);
  const guest = await openBrowser(testApp);
  await guest.open(path);
  assert.match(guest.page.html, /does not work any more/);
});

test('a password lets its person in, and a wrong one says nothing about who exists', async () => {
  await logIn(testApp, { email: 'bob@people.example' });
  const browser = await openBrowser(testApp);
  await browser.open('/t/default/live/emails?status=sent');
  assert.equal(browser.page.url, '/login?to=%2Ft%2Fdefault%2Flive%2Femails%3Fstatus%3Dsent');
  await browser.submit('login', { email: 'bob@people.example', password: 'wrong password' });
  const known = browser.page;
  await browser.submit('login', { email: 'nobody@people.example', password: 'wrong password' });
  assert.equal(known.status, 422);
  const neutral = (html: string) => html.replace(/(?:value|data-options)="[^"]*"/g, '');
  assert.equal(neutral(browser.page.html), neutral(known.html));
  await browser.submit('login', { email: 'BOB@people.example', password: PASSWORD });
  assert.equal(browser.page.url, '/t/default/live/emails?status=sent');
});

test('failures are limited for each account, and its owner still gets in from where it was before', async () => {
  await logIn(testApp, { email: 'eve@people.example' });
  const browser = await openBrowser(testApp);
  await browser.open('/login');
  const texts: string[] = [];
  for (let count = 0; count < 30; count++) {
    await browser.submit('login', { email: 'unknown@people.example', password: `wrong ${count}` });
    texts.push(/Too many attempts/.test(browser.page.html) ? 'limited' : 'checked');
  }
  assert.ok(texts.includes('limited'), String(texts));
  assert.ok(texts.filter((text) => text === 'checked').length <= 20, String(texts));
  await clock.advance(60 * MINUTE_MS);
});

test('a one-time code is asked for once it is on, and none works twice', async () => {
  const browser = await logIn(testApp, { email: 'tom@people.example' });
  await browser.open('/account');
  const [, secret = ''] = /name="totpSecret" value="([A-Z2-7]{32})"/.exec(browser.page.html) ?? [];
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const code = () => totp.generate({ timestamp: clock.now() });
  await browser.submit('totpOn', { code: '000000', password: PASSWORD });
  assert.match(browser.page.html, /The code is wrong/);
  assert.match(browser.page.html, new RegExp(secret));
  const first = code();
  await browser.submit('totpOn', { code: first, password: PASSWORD });
  assert.match(browser.page.html, /One-time codes are on/);
  const other = await openBrowser(testApp);
  await other.open('/login');
  await other.submit('login', { email: 'tom@people.example', password: PASSWORD });
  assert.equal(other.page.url, '/login/code');
  const before = other.cookie();
  assert.equal(
    (await other.send('/account', { method: 'GET' })).status,
    303,
    'the password alone opens nothing',
  );
  await other.submit('code', { code: first });
  assert.match(other.page.html, /was used before/);
  await clock.advance(MINUTE_MS);
  await other.submit('code', { code: code() });
  assert.equal(other.page.url, '/t/default/live');
  assert.notEqual(other.cookie(), before, 'the session has another token');
});

test('a session ends when it is logged out, ended from elsewhere, unused for a week, or its password changes', async () => {
  const email = 'sue@people.example';
  const browser = await logIn(testApp, { email });
  const again = async () => {
    const other = await openBrowser(testApp);
    await other.open('/login');
    await other.submit('login', { email, password: PASSWORD });
    await other.open('/account');
    assert.match(other.page.html, /Your account/);
    return other;
  };
  const isIn = async (one: typeof browser) => (await one.send('/account', { method: 'GET' })).status === 200;
  const first = await again();
  const cookie = first.cookie();
  await first.submit('logout');
  assert.equal(first.page.url, '/login?said=loggedOut');
  assert.equal((await first.send('/account', { method: 'GET', headers: { cookie } })).status, 303);
  const second = await again();
  await browser.open('/account');
  await browser.submit('end');
  assert.equal(await isIn(second), false);
  const third = await again();
  await browser.open('/account');
  await browser.submit('password', { currentPassword: PASSWORD, newPassword: 'another good password' });
  assert.match(browser.page.html, /The password has changed/);
  assert.deepEqual([await isIn(third), await isIn(browser)], [false, true]);
  await clock.advance(7 * 24 * 60 * MINUTE_MS);
  assert.equal(await isIn(browser), false);
});

test('a form of another site changes nothing, and neither does one that says not where it comes from', async () => {
  const browser = await logIn(testApp);
  await browser.open('/account');
  const body = '_action=profile&name=Mallory&language=&timeZone=';
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example', 'sec-fetch-site': '' },
    { origin: 'null', 'sec-fetch-site': '' },
  ];
  for (const headers of foreign) {
    const { status } = await browser.send('/account', { method: 'POST', body, headers });
    assert.equal(status, 403, JSON.stringify(headers));
  }
  await browser.open('/account');
  assert.doesNotMatch(browser.page.html, /Mallory/);
});

test('a login never leads to another host', async () => {
  await logIn(testApp, { email: 'ben@people.example' });
  for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example']) {
    const browser = await openBrowser(testApp);
    await browser.open(`/login?to=${encodeURIComponent(to)}`);
    await browser.submit('login', { email: 'ben@people.example', password: PASSWORD });
    assert.equal(browser.page.url, '/t/default/live', to);
  }
});

test('the dashboard answers under the names of this installation and this machine alone', async () => {
  const browser = await openBrowser(testApp);
  for (const host of ['track.mx.postrider.example', 'evil.example', '203.0.113.7']) {
    const { status, html } = await browser.send('/login', { method: 'GET', headers: { host } });
    assert.ok(status >= 400 && !html.includes('Log in'), `${host}: ${status}`);
  }
  const { html } = await browser.send('/login', {
    method: 'GET',
    headers: { host: 'MX.postrider.example.' },
  });
  assert.match(html, /Log in/);
  const refused = await browser.send('/login', {
    method: 'POST',
    body: `_action=login&email=ben%40people.example&password=${PASSWORD.replaceAll(' ', '+')}`,
    headers: { host: 'mx.postrider.example' },
  });
  assert.match(refused.html, /over HTTPS only/);
  assert.equal(refused.headers['set-cookie'], undefined);
});
