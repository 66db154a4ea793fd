/** Browsers in which somebody has logged in before: strangers who guess passwords do not keep their owners out, and their tokens open nothing. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createKnownDevices, KNOWN_MS } from '../../src/dashboard/people/known-devices.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { type Browser, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { switchTotpOn } from '../support/second-factor.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({
  system: { clock },
  env: { POSTRIDER_MAILBOXES_FAILURES_PER_ACCOUNT: '5', POSTRIDER_MAILBOXES_FAILURES_PER_ADDRESS: '1000' },
});
after(() => testApp.close());
const { app } = testApp;
const ANN = { kind: 'person', account: 'ann@people.example' } as const;
const MINUTE_MS = 60_000;

type Credentials = { email: string } | { address: string };

async function tryPassword(browser: Browser, name: Credentials, password = PASSWORD): Promise<number> {
  await browser.open('address' in name ? '/mailbox/login' : '/login');
  return (await browser.submit('login', { ...name, password })).status;
}

/** Uses up the failures of an account as a stranger, whom nothing is left then. */
async function flood(name: Credentials, stranger?: Browser): Promise<void> {
  const browser = stranger ?? (await openBrowser(testApp));
  for (let count = 0; count < 5; count++)
    assert.equal(await tryPassword(browser, name, `guess ${count}`), 422);
  assert.equal(await tryPassword(browser, name), 429);
}

test('a person logs in where it has logged in before, however often strangers fail elsewhere', async () => {
  const email = 'ada@people.example';
  const owner = await logIn(testApp, { email });
  await owner.submit('logout');
  await flood({ email });
  assert.equal(await tryPassword(await openBrowser(testApp), { email }), 429);
  owner.moveTo('127.0.0.9');
  assert.equal(await tryPassword(owner, { email }), 200);
  assert.equal(owner.page.url, '/t/default/live');
  await owner.open('/account');
  const changed = { currentPassword: PASSWORD, newPassword: 'another good password' };
  assert.equal((await owner.submit('password', changed)).url, '/account?said=passwordChanged');
});

test('the owner of a mailbox logs in where it has logged in before, however often strangers fail elsewhere', async () => {
  const address = 'box@people.example';
  await addMailbox(testApp, { address, passwordHash: await hashPassword(PASSWORD, '') });
  const owner = await openBrowser(testApp);
  owner.moveTo('127.0.0.8');
  assert.equal(await tryPassword(owner, { address }), 200);
  await flood({ address });
  owner.moveTo('127.0.0.9');
  assert.equal(await tryPassword(owner, { address }), 200);
  assert.equal(owner.page.url, '/mailbox');
});

test('wrong passwords in a known browser use up its own few tries', async () => {
  const email = 'bea@people.example';
  const owner = await logIn(testApp, { email });
  await flood({ email });
  for (let count = 0; count < 5; count++)
    assert.equal(await tryPassword(owner, { email }, `typo ${count}`), 422);
  assert.equal(await tryPassword(owner, { email }), 429);
  await clock.advance(2 * MINUTE_MS);
  assert.equal(await tryPassword(owner, { email }), 200);
});

test('a browser that is known for one person is a stranger to others, and is known for both after both have logged in', async () => {
  const [first, second] = ['cleo@people.example', 'dora@people.example'];
  const browser = await logIn(testApp, { email: first });
  await logIn(testApp, { email: second });
  await flood({ email: second }, browser);
  await clock.advance(2 * MINUTE_MS);
  browser.moveTo('127.0.0.6');
  assert.equal(await tryPassword(browser, { email: second }), 200);
  browser.moveTo('127.0.0.7');
  for (const email of [first, second]) {
    await clock.advance(10 * MINUTE_MS);
    await flood({ email });
    assert.equal(await tryPassword(browser, { email }), 200);
  }
});

test('a login gives the browser a new token, which scripts do not read and other sites do not send', async () => {
  const email = 'eve@people.example';
  const browser = await logIn(testApp, { email });
  const tokenIn = () => /device=([\w.-]+)/.exec(browser.cookie())?.[1];
  const before = tokenIn();
  await browser.open('/login');
  const body = String(new URLSearchParams({ _action: 'login', email, password: PASSWORD }));
  const { headers } = await browser.send('/login', { method: 'POST', body });
  const set = [headers['set-cookie'] ?? []].flat().find((cookie) => cookie.startsWith('device='));
  assert.match(set ?? '', /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=7776000$/);
  assert.notEqual(tokenIn(), before);
});

test('a password alone makes no browser known when a code must follow', async () => {
  const email = 'fay@people.example';
  const { code } = await switchTotpOn(await logIn(testApp, { email }), clock);
  await clock.advance(MINUTE_MS);
  const browser = await openBrowser(testApp);
  assert.equal(await tryPassword(browser, { email }), 200);
  assert.doesNotMatch(browser.cookie(), /device=/);
  await browser.submit('code', { code: code() });
  assert.match(browser.cookie(), /device=/);
});

test('a token holds for 90 days, for one account, as it was made, and after a restart', () => {
  const devices = createKnownDevices(app);
  const token = devices.renew(undefined, ANN);
  const id = devices.find(token, ANN);
  assert.ok(id);
  assert.equal(createKnownDevices(app).find(token, ANN), id);
  assert.equal(devices.find(token, { ...ANN, kind: 'mailbox' }), undefined);
  assert.equal(devices.find(token, { ...ANN, account: 'ben@people.example' }), undefined);
  for (let index = 0; index < token.length; index++) {
    const other = token[index] === 'A' ? 'B' : 'A';
    assert.equal(devices.find(token.slice(0, index) + other + token.slice(index + 1), ANN), undefined);
  }
  const laterBy = (ms: number) =>
    createKnownDevices({ ...app, clock: { ...clock, now: () => clock.now() + ms } }).find(token, ANN);
  assert.deepEqual([laterBy(KNOWN_MS - 1), laterBy(KNOWN_MS)], [id, undefined]);
});

test('a cookie has the tokens of the last four accounts, one of each, and nothing else that somebody sends', () => {
  const devices = createKnownDevices(app);
  const owners = ['a', 'b', 'c', 'd', 'e'].map((account) => ({ kind: 'person' as const, account }));
  const cookie = owners.reduce((before, owner) => devices.renew(before, owner), 'x'.repeat(100_000));
  const known = (text: string) => owners.map((owner) => devices.find(text, owner) !== undefined);
  assert.deepEqual(known(cookie), [false, true, true, true, true]);
  assert.ok(cookie.length < 256);
  const renewed = devices.renew(cookie, { kind: 'person', account: 'c' });
  assert.deepEqual(known(renewed), [false, true, true, true, true]);
  assert.notEqual(
    devices.find(renewed, { kind: 'person', account: 'c' }),
    devices.find(cookie, { kind: 'person', account: 'c' }),
  );
});
