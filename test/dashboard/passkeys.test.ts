/** Passkeys: adding, naming, removing, logging in with them, and every answer that must be refused. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeLoginLink } from '../../src/dashboard/people/invite.ts';
import { type Browser, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createPasskey, optionsOn, type Passkey, requireOptions } from '../support/passkey.ts';
import { recordLog } from '../support/record-log.ts';
import { switchTotpOn } from '../support/second-factor.ts';
import { openTestApp } from '../support/test-app.ts';

const MINUTE_MS = 60_000;
const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const { log, lines } = recordLog('info');
const testApp = await openTestApp({ system: { clock, log } });
after(() => testApp.close());

const PASSKEY_REFUSED = /The passkey was not accepted/;

/** Adds a new passkey to the person that is logged in. */
async function addPasskey(browser: Browser, name = 'laptop'): Promise<Passkey> {
  const passkey = createPasskey();
  await browser.open('/account');
  const options = requireOptions(browser.page.html, 'passkeyAdd');
  const credential = passkey.create(options, browser.origin());
  await browser.submit('passkeyAdd', { name, password: PASSWORD, credential });
  assert.match(browser.page.html, /The passkey is added/);
  return passkey;
}

async function openLogin() {
  const browser = await openBrowser(testApp);
  const { html } = await browser.open('/login');
  return { browser, options: requireOptions(html, 'passkey') };
}

/** Returns the reason of the last refusal in the log. */
const lastReason = () => lines.filter(({ msg }) => msg === 'a passkey was refused').at(-1)?.['reason'];

test('a passkey is added with the password, logs in without one, and its use is shown', async () => {
  const owner = await logIn(testApp, { email: 'paula@people.example' });
  const passkey = createPasskey();
  await owner.open('/account');
  const options = requireOptions(owner.page.html, 'passkeyAdd');
  const credential = passkey.create(options, owner.origin());
  await owner.submit('passkeyAdd', { name: 'laptop', password: 'not the password', credential });
  assert.match(owner.page.html, /password is wrong/);
  const again = passkey.create(requireOptions(owner.page.html, 'passkeyAdd'), owner.origin());
  await owner.submit('passkeyAdd', { name: 'laptop', password: PASSWORD, credential: again });
  assert.match(owner.page.html, /The passkey is added/);
  assert.deepEqual(
    requireOptions(owner.page.html, 'passkeyAdd').excludeCredentials?.map(({ id }) => id),
    [passkey.credentialId],
  );

  const { browser, options: request } = await openLogin();
  assert.deepEqual(request.allowCredentials, []);
  await browser.submit('passkey', { credential: passkey.get(request, browser.origin()) });
  assert.equal(browser.page.url, '/t/default/live');
  await browser.open('/account');
  assert.match(browser.page.html, /paula@people\.example/);
});

test('a login with a passkey leads to the page that was wanted, and never to another host', async () => {
  const passkey = await addPasskey(await logIn(testApp, { email: 'pete@people.example' }));
  for (const [to, reached] of [
    ['/t/default/test/emails', '/t/default/test/emails'],
    ['//evil.example', '/t/default/live'],
  ] as const) {
    const browser = await openBrowser(testApp);
    const { html } = await browser.open(`/login?to=${encodeURIComponent(to)}`);
    await browser.submit('passkey', {
      credential: passkey.get(requireOptions(html, 'passkey'), browser.origin()),
    });
    assert.equal(browser.page.url, reached);
  }
});

test('a wrong origin, relying party, challenge, type, counter or user is refused', async () => {
  const passkey = await addPasskey(await logIn(testApp, { email: 'paul@people.example' }));
  const first = await openLogin();
  await first.browser.submit('passkey', { credential: passkey.get(first.options, first.browser.origin()) });
  const wrongs = [
    [{ origin: 'https://evil.example' }, /origin/],
    [{ origin: 'http://localhost:1' }, /origin/],
    [{ rpId: 'evil.example' }, /RP ID/],
    [{ challenge: 'bm90IG91cnM' }, /challenge/],
    [{ challenge: first.options.challenge }, /challenge/],
    [{ type: 'webauthn.create' }, /type/],
    [{ isUserVerified: false }, /verif/],
    [{ counter: 1 }, /counter/],
    [{ counter: 0 }, /counter/],
  ] as const;
  for (const [wrong, reason] of wrongs) {
    const { browser, options } = await openLogin();
    await browser.submit('passkey', { credential: passkey.get(options, browser.origin(), wrong) });
    assert.match(browser.page.html, PASSKEY_REFUSED, JSON.stringify(wrong));
    assert.match(String(lastReason()), reason, JSON.stringify(wrong));
    assert.equal(browser.cookie(), '');
  }
  const { browser, options } = await openLogin();
  await browser.submit('passkey', { credential: passkey.get(options, browser.origin()) });
  assert.equal(browser.page.url, '/t/default/live', 'an honest answer is still accepted');
});

test('texts that are no credential, and passkeys that nobody has, are refused', async () => {
  const { browser, options } = await openLogin();
  const stranger = createPasskey().get(options, browser.origin());
  for (const credential of ['', '{', 'null', '[]', '7', '{"id":5}', '{"id":"x"}', stranger]) {
    await browser.submit('passkey', { credential });
    assert.match(browser.page.html, PASSKEY_REFUSED, credential);
  }
});

test('an answer works once, also when it is sent twice at the same time, and its challenge for five minutes', async () => {
  const passkey = await addPasskey(await logIn(testApp, { email: 'pia@people.example' }));
  const { browser, options } = await openLogin();
  const credential = passkey.get(options, browser.origin());
  const body = String(new URLSearchParams({ _action: 'passkey', credential }));
  const others = await Promise.all([1, 2, 3].map(() => openBrowser(testApp)));
  const answers = await Promise.all(others.map((other) => other.send('/login', { method: 'POST', body })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 422, 422]);
  const late = await openLogin();
  await clock.advance(5 * MINUTE_MS);
  await late.browser.submit('passkey', { credential: passkey.get(late.options, late.browser.origin()) });
  assert.match(late.browser.page.html, PASSKEY_REFUSED);
});

test('a passkey that does not count is accepted each time, with a challenge of its own', async () => {
  const passkey = createPasskey();
  const owner = await logIn(testApp, { email: 'phil@people.example' });
  await owner.open('/account');
  const credential = passkey.create(requireOptions(owner.page.html, 'passkeyAdd'), owner.origin());
  await owner.submit('passkeyAdd', { name: 'phone', password: PASSWORD, credential });
  for (let count = 0; count < 2; count++) {
    const { browser, options } = await openLogin();
    await browser.submit('passkey', { credential: passkey.get(options, browser.origin(), { counter: 0 }) });
    assert.equal(browser.page.url, '/t/default/live');
  }
});

test('a passkey takes the place of a code, for its own person and the session that asked alone', async () => {
  const email = 'pola@people.example';
  const owner = await logIn(testApp, { email });
  const passkey = await addPasskey(owner);
  const foreign = await addPasskey(await logIn(testApp, { email: 'else@people.example' }));
  await switchTotpOn(owner, clock);
  const enterPassword = async () => {
    const browser = await openBrowser(testApp);
    await browser.open('/login');
    await browser.submit('login', { email, password: PASSWORD });
    assert.equal(browser.page.url, '/login/code');
    return { browser, options: requireOptions(browser.page.html, 'passkey') };
  };
  const { browser, options } = await enterPassword();
  assert.deepEqual(
    options.allowCredentials?.map(({ id }) => id),
    [passkey.credentialId],
  );
  const other = await enterPassword();
  const login = await openLogin();
  for (const credential of [
    foreign.get(options, browser.origin()),
    passkey.get(other.options, browser.origin()),
    passkey.get(login.options, browser.origin()),
  ]) {
    await browser.submit('passkey', { credential });
    assert.match(browser.page.html, PASSKEY_REFUSED);
  }
  const before = browser.cookie();
  const fresh = requireOptions(browser.page.html, 'passkey');
  await browser.submit('passkey', {
    credential: passkey.get(fresh, browser.origin(), { isUserVerified: false }),
  });
  assert.equal(browser.page.url, '/t/default/live');
  assert.notEqual(browser.cookie(), before);
});

test('an invitation ends in a passkey, whose person has no password and keeps its last way to log in', async () => {
  const email = 'pam@people.example';
  const link = await makeLoginLink(testApp.app, {
    kind: 'invitation',
    email,
    tenantId: testApp.tenantId,
    role: 'viewer',
    isOperator: 0,
    personId: null,
    madeBy: 'test',
    makerId: null,
  });
  const passkey = createPasskey();
  const guest = await openBrowser(testApp);
  await guest.open(link);
  const credential = passkey.create(requireOptions(guest.page.html, 'enterPasskey'), guest.origin());
  await guest.submit('enterPasskey', { name: 'Pam', credential });
  assert.equal(guest.page.url, '/t/default/live');
  const { browser, options } = await openLogin();
  for (const password of ['', PASSWORD]) {
    await browser.submit('login', { email, password });
    assert.equal(browser.page.url, '/login');
  }
  await browser.submit('passkey', { credential: passkey.get(options, browser.origin()) });
  assert.equal(browser.page.url, '/t/default/live');
  await browser.open('/account');
  await browser.submit('passkeyRemove');
  assert.match(browser.page.html, /only way to log in/);
  await clock.advance(16 * MINUTE_MS);
  await browser.submit('password', { newPassword: PASSWORD });
  assert.match(browser.page.html, /log in again/);
  const fresh = await openLogin();
  await fresh.browser.submit('passkey', { credential: passkey.get(fresh.options, fresh.browser.origin()) });
  await fresh.browser.open('/account');
  await fresh.browser.submit('password', { newPassword: PASSWORD });
  await fresh.browser.submit('passkeyRemove', { password: PASSWORD });
  assert.match(fresh.browser.page.html, /The passkey is removed/);
  assert.equal((await browser.send('/account', { method: 'GET' })).status, 303);
});

test('a passkey is named and removed by its own person, and then logs in nobody', async () => {
  const owner = await logIn(testApp, { email: 'prue@people.example' });
  const passkey = await addPasskey(owner, 'old <b>name</b>');
  assert.match(owner.page.html, /old &lt;b/);
  await owner.submit('passkeyName', { name: 'new name' });
  assert.match(owner.page.html, /new name/);
  const [, id = ''] = /name="id" value="(psk_\w+)"/.exec(owner.page.html) ?? [];
  const stranger = await logIn(testApp, { email: 'stranger@people.example' });
  for (const action of ['passkeyName', 'passkeyRemove']) {
    const body = String(new URLSearchParams({ _action: action, id, name: 'mine', password: PASSWORD }));
    assert.equal((await stranger.send('/account', { method: 'POST', body })).status, 422, action);
  }
  const { html } = await owner.open('/account');
  assert.match(html, /new name/);
  await owner.submit('passkeyRemove', { password: PASSWORD });
  const { browser, options } = await openLogin();
  await browser.submit('passkey', { credential: passkey.get(options, browser.origin()) });
  assert.match(browser.page.html, PASSKEY_REFUSED);
});

test('a passkey belongs to one person, and a new one must answer the page of that person', async () => {
  const ann = await logIn(testApp, { email: 'pann@people.example' });
  const ben = await logIn(testApp, { email: 'pben@people.example' });
  const passkey = await addPasskey(ann);
  await ben.open('/account');
  const copied = passkey.create(requireOptions(ben.page.html, 'passkeyAdd'), ben.origin());
  await ben.submit('passkeyAdd', { name: 'copy', password: PASSWORD, credential: copied });
  assert.match(ben.page.html, /in use already/);
  await ann.open('/account');
  const foreign = createPasskey().create(requireOptions(ann.page.html, 'passkeyAdd'), ben.origin());
  await ben.submit('passkeyAdd', { name: 'foreign', password: PASSWORD, credential: foreign });
  assert.match(ben.page.html, PASSKEY_REFUSED);
});

test('a statement with certificates is refused, before anything that stands in them is fetched', async () => {
  const owner = await logIn(testApp, { email: 'pat@people.example' });
  await owner.open('/account');
  // The map { alg: -7, sig: h'00', x5c: [h'00'] }.
  const statement = Buffer.concat([
    Buffer.from([0xa3, 0x63]),
    Buffer.from('alg'),
    Buffer.from([0x26, 0x63]),
    Buffer.from('sig'),
    Buffer.from([0x41, 0x00, 0x63]),
    Buffer.from('x5c'),
    Buffer.from([0x81, 0x41, 0x00]),
  ]);
  const options = requireOptions(owner.page.html, 'passkeyAdd');
  const credential = createPasskey().create(options, owner.origin(), { statement });
  await owner.submit('passkeyAdd', { name: 'certified', password: PASSWORD, credential });
  assert.match(owner.page.html, PASSKEY_REFUSED);
  assert.equal(lastReason(), 'The statement has certificates');
});

test('pages under an address offer no passkeys, and only pages that ask for them load their script', async () => {
  const owner = await logIn(testApp, { email: 'page@people.example' });
  const { html } = await owner.open('/account');
  assert.match(html, /passkeys\.js/);
  assert.doesNotMatch((await owner.open('/t/default/live')).html, /passkeys\.js/);
  const { port } = new URL(owner.origin());
  const host = `127.0.0.1:${port}`;
  const page = await owner.send('/login', { method: 'GET', headers: { host } });
  assert.equal(page.status, 200);
  assert.equal(optionsOn(page.html, 'passkey'), undefined);
});
