/** Recovery codes, each of which replaces a one-time code once. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Browser, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recoveryCodesOn, switchTotpOn } from '../support/second-factor.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());

/** Returns a browser in which the password of a person is entered, and the code is still to come. */
async function enterPassword(email: string): Promise<Browser> {
  const browser = await openBrowser(testApp);
  await browser.open('/login');
  await browser.submit('login', { email, password: PASSWORD });
  assert.equal(browser.page.url, '/login/code');
  return browser;
}

test('ten codes are shown once, and each lets its person in once in the place of a one-time code', async () => {
  const email = 'rita@people.example';
  const browser = await logIn(testApp, { email });
  const { recoveryCodes } = await switchTotpOn(browser, clock);
  assert.equal(new Set(recoveryCodes).size, 10);
  const { html } = await browser.open('/account');
  assert.match(html, /Recovery codes left: 10/);
  assert.ok(!recoveryCodes.some((code) => html.includes(code)));

  const [code = ''] = recoveryCodes;
  const first = await enterPassword(email);
  const before = first.cookie();
  await first.submit('code', { code: code.toLowerCase().replaceAll('-', ' ') });
  assert.equal(first.page.url, '/t/default/live');
  assert.notEqual(first.cookie(), before);
  const second = await enterPassword(email);
  await second.submit('code', { code });
  assert.match(second.page.html, /was used before/);
  await browser.open('/account');
  assert.match(browser.page.html, /Recovery codes left: 9/);
});

test('a one-time code or a recovery code that is used twice at the same time works once', async () => {
  const email = 'rolf@people.example';
  const browser = await logIn(testApp, { email });
  const { recoveryCodes, code } = await switchTotpOn(browser, clock);
  await clock.advance(60_000);
  for (const one of [recoveryCodes[0] ?? '', code()]) {
    const browsers = [await enterPassword(email), await enterPassword(email), await enterPassword(email)];
    await Promise.all(browsers.map((each) => each.submit('code', { code: one })));
    const entered = browsers.filter(({ page }) => page.url === '/t/default/live');
    assert.equal(entered.length, 1);
  }
});

test('the codes of another person, and those before new ones were made, do not work', async () => {
  const email = 'rosa@people.example';
  const browser = await logIn(testApp, { email });
  const { recoveryCodes } = await switchTotpOn(browser, clock);
  const other = await logIn(testApp, { email: 'ralf@people.example' });
  const { recoveryCodes: foreign } = await switchTotpOn(other, clock);
  await browser.open('/account');
  await browser.submit('renewRecoveryCodes', { password: 'not the password' });
  assert.match(browser.page.html, /password is wrong/);
  await browser.submit('renewRecoveryCodes', { password: PASSWORD });
  const renewed = recoveryCodesOn(browser);
  assert.equal(renewed.length, 10);
  const guest = await enterPassword(email);
  for (const code of [recoveryCodes[1] ?? '', foreign[0] ?? '', 'AAAA-BBBB', '']) {
    await guest.submit('code', { code });
    assert.match(guest.page.html, /The code is wrong/, code);
  }
  await guest.submit('code', { code: renewed[9] ?? '' });
  assert.equal(guest.page.url, '/t/default/live');
});

test('the codes end with the one-time codes, and the secrets are in no line of the audit log', async () => {
  const email = 'rune@people.example';
  const browser = await logIn(testApp, { email });
  const { recoveryCodes, secret } = await switchTotpOn(browser, clock);
  await browser.open('/account');
  await browser.submit('totpOff', { password: PASSWORD });
  const { db } = testApp.app;
  const person = await db.read
    .selectFrom('people')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirst();
  const left = await db.read
    .selectFrom('recoveryCodes')
    .selectAll()
    .where('personId', '=', person?.id ?? 'per_')
    .execute();
  assert.deepEqual(left, []);
  const lines = await db.read.selectFrom('auditEntries').select('details').execute();
  for (const { details } of lines)
    assert.ok(![secret, ...recoveryCodes].some((text) => details.includes(text)), details);
});
