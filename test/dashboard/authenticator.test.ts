/** Invitations that are accepted with a password: they end in one-time codes, unless the person goes on without. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { makeLoginLink } from '../../src/dashboard/people/invite.ts';
import { findPersonByEmail } from '../../src/dashboard/people/store.ts';
import { openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recoveryCodesOn } from '../support/second-factor.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const { app, tenantId } = testApp;
const MINUTE_MS = 60_000;

/** Returns a browser in which an invited person has chosen a password. */
async function accept(email: string) {
  const rights = { tenantId, role: 'viewer', isOperator: 0, personId: null } as const;
  const made = { madeBy: 'test', makerId: null };
  const path = await makeLoginLink(app, { kind: 'invitation', email, ...rights, ...made });
  const browser = await openBrowser(testApp);
  await browser.open(path);
  await browser.submit('enter', { name: 'Guest', password: PASSWORD });
  assert.equal(browser.page.url, '/login/authenticator');
  return browser;
}

test('an invited person sets one-time codes up, keeps the recovery codes, and logs in with both from then on', async () => {
  const email = 'ada@people.example';
  const browser = await accept(email);
  const [, secret = ''] = /<code>([A-Z2-7]{32})<\/code>/.exec(browser.page.html) ?? [];
  assert.match(browser.page.html, /<img src="data:image\/png;base64,/);
  await browser.submit('on', { code: '000000' });
  assert.equal(browser.page.status, 422);
  assert.ok(browser.page.html.includes(`<code>${secret}</code>`), 'the key in the app stays');
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const before = browser.cookie();
  await browser.submit('on', { code: totp.generate({ timestamp: clock.now() }) });
  assert.equal(browser.page.status, 200);
  assert.ok(recoveryCodesOn(browser).length > 0);
  assert.match(browser.page.html, /<a href="\/t\/default\/live">/);
  assert.notEqual(browser.cookie(), before);
  assert.equal((await browser.open('/t/default/live')).url, '/t/default/live');
  await clock.advance(MINUTE_MS);
  const elsewhere = await openBrowser(testApp);
  await elsewhere.open('/login');
  await elsewhere.submit('login', { email, password: PASSWORD });
  assert.equal(elsewhere.page.url, '/login/code');
  await elsewhere.submit('code', { code: totp.generate({ timestamp: clock.now() }) });
  assert.equal(elsewhere.page.url, '/t/default/live');
});

test('nothing opens before that step, which can be left out and is gone afterwards', async () => {
  const email = 'bea@people.example';
  const browser = await accept(email);
  for (const path of ['/account', '/t/default/live', '/operator'])
    assert.match((await browser.open(path)).url, /^\/login\?to=/, path);
  assert.equal((await browser.open('/')).url, '/login/authenticator');
  await browser.submit('later');
  assert.equal(browser.page.url, '/t/default/live');
  assert.equal((await findPersonByEmail(app.db.read, email))?.totpSealed, null);
  assert.equal((await browser.open('/login/authenticator')).url, '/t/default/live');
  const form = { method: 'POST', body: '_action=later' } as const;
  assert.equal((await browser.send('/login/authenticator', form)).headers['location'], '/t/default/live');
});

test('the step waits for half an hour, and the password works after that', async () => {
  const email = 'cleo@people.example';
  const browser = await accept(email);
  await clock.advance(30 * MINUTE_MS);
  await browser.submit('later');
  assert.match(browser.page.url, /^\/login/);
  await browser.open('/login');
  await browser.submit('login', { email, password: PASSWORD });
  assert.equal(browser.page.url, '/t/default/live');
});
