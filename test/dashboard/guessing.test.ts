/** Strangers who guess passwords and codes, and logins that take so long that the person has changed its password meanwhile. */
import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { listPasskeys } from '../../src/dashboard/people/passkeys-store.ts';
import { endSession, listSessions } from '../../src/dashboard/people/sessions-store.ts';
import { changePerson, findPersonByEmail } from '../../src/dashboard/people/store.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { countHashes } from '../mailboxes/passwords/counted-hashes.ts';
import { type Browser, formsOf, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createPasskey, requireOptions } from '../support/passkey.ts';
import { switchTotpOn } from '../support/second-factor.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const hashes = countHashes();
const testApp = await openTestApp({
  system: { clock },
  env: { POSTRIDER_MAILBOXES_FAILURES_PER_ACCOUNT: '5', POSTRIDER_MAILBOXES_FAILURES_PER_ADDRESS: '1000' },
});
after(async () => {
  hashes.restore();
  await testApp.close();
});
const { app } = testApp;
const DAY_MS = 24 * 60 * 60_000;

/** Everything that the log has been told. */
const logged = mock.method(app.log, 'info', () => undefined);
const told = () => logged.mock.calls.map(({ arguments: all }) => all as unknown as [object, string]);

async function enterPassword(email: string): Promise<Browser> {
  const browser = await openBrowser(testApp);
  await browser.open('/login');
  await browser.submit('login', { email, password: PASSWORD });
  return browser;
}

test('a name that is as long as a form may be is cut in the log', async () => {
  const browser = await openBrowser(testApp);
  await browser.open('/login');
  await browser.submit('login', {
    email: `${'x'.repeat(500_000)}@people.example`,
    password: 'wrong password',
  });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /The address or the password is wrong/);
  const [line] = told().filter(([, message]) => message === 'a login has failed');
  assert.ok(JSON.stringify(line).length < 500, JSON.stringify(line).slice(0, 600));
});

test('a name that looks like the counter of somebody’s codes uses up none of that person’s tries', async () => {
  const email = 'cora@people.example';
  const { code } = await switchTotpOn(await logIn(testApp, { email }), clock);
  const guesser = await openBrowser(testApp);
  await guesser.open('/login');
  for (let count = 0; count < 20; count++)
    await guesser.submit('login', { email: `code ${email}`, password: 'wrong password' });
  await clock.advance(60_000);
  const browser = await enterPassword(email);
  await browser.submit('code', { code: code() });
  assert.equal(browser.page.url, '/t/default/live');
});

test('a login ends after five codes, and its person has twenty wrong ones a day, also in several logins', async () => {
  const email = 'greta@people.example';
  const owner = await logIn(testApp, { email });
  const { code, recoveryCodes } = await switchTotpOn(owner, clock);
  let wrong = 0;
  let last = owner;
  for (let logins = 0; logins < 6; logins++) {
    last = await enterPassword(email);
    for (let tries = 0; tries < 5; tries++) {
      await last.submit('code', { code: '000000' });
      if (/The code is wrong/.test(last.page.html)) wrong += 1;
    }
    await last.submit('code', { code: code() });
    assert.match(last.page.html, /The login has ended/);
    await last.submit('code', { code: code() });
    assert.equal(last.page.url, '/login');
  }
  assert.equal(wrong, 20);
  const lines = told().filter(
    ([fields, message]) => message === 'a login has failed' && 'factor' in fields && fields.factor === 'code',
  );
  assert.equal(lines.length, 20);
  assert.ok(
    lines.every(([fields]) => 'account' in fields && fields.account === email && 'address' in fields),
  );

  const again = await enterPassword(email);
  await again.submit('code', { code: code() });
  assert.match(again.page.html, /Too many codes were wrong/);
  await again.submit('code', { code: recoveryCodes[0] ?? '' });
  assert.equal(again.page.url, '/t/default/live');
  await clock.advance(DAY_MS);
  const next = await enterPassword(email);
  await next.submit('code', { code: code() });
  assert.equal(next.page.url, '/t/default/live');
});

test('a login whose password is being checked does not outlast a new password or a second factor', async () => {
  for (const set of [
    { passwordHash: await hashPassword('another password', '') },
    { totpSealed: 'sealed by a test' },
  ]) {
    const email = `slow${Object.keys(set)}@people.example`.toLowerCase();
    await logIn(testApp, { email });
    const person = await findPersonByEmail(app.db.read, email);
    assert.ok(person);
    const browser = await openBrowser(testApp);
    await browser.open('/login');
    hashes.take();
    hashes.hold();
    const answered = browser.submit('login', { email, password: PASSWORD });
    while (hashes.take().length === 0) await new Promise(setImmediate);
    await app.db.commit(changePerson, { id: person.id, set });
    hashes.release();
    hashes.resume();
    const { status, html } = await answered;
    assert.equal(status, 422);
    assert.match(html, /has changed meanwhile; log in again/);
    assert.equal((await browser.send('/account', { method: 'GET' })).status, 303);
  }
});

test('a session that ends while its password is checked leaves itself no other way in', async () => {
  const forms = [
    ['password', { currentPassword: PASSWORD, newPassword: 'password of a thief' }],
    ['totpOn', { password: PASSWORD }],
    ['passkeyAdd', { password: PASSWORD, name: 'thief' }],
  ] as const;
  for (const [action, fields] of forms) {
    const email = `robbed.${action}@people.example`.toLowerCase();
    const thief = await logIn(testApp, { email });
    const person = await findPersonByEmail(app.db.read, email);
    assert.ok(person);
    await thief.open('/account');
    const own = ownFields(thief, action);
    hashes.take();
    hashes.hold();
    const answered = thief.submit(action, { ...fields, ...own });
    while (hashes.take().length === 0) await new Promise(setImmediate);
    for (const { id } of await listSessions(app.db.read, { personId: person.id, mailboxId: null }))
      await app.db.commit(endSession, { id, owner: { personId: person.id, mailboxId: null } });
    hashes.release();
    hashes.resume();
    assert.match((await answered).html, /The login has ended; begin again/, action);
    const { passwordHash, totpSealed } = (await findPersonByEmail(app.db.read, email)) ?? {};
    assert.deepEqual([passwordHash, totpSealed], [person.passwordHash, null], action);
    assert.deepEqual(await listPasskeys(app.db.read, person.id), [], action);
  }
});

/** Returns what somebody enters who has the page before: the code of the new secret, or the new passkey. */
function ownFields(browser: Browser, action: string): Record<string, string> {
  const { html } = browser.page;
  if (action === 'totpOn') {
    const form = formsOf(html).find(({ values }) => values.get('_action') === action);
    const secret = Secret.fromBase32(form?.values.get('totpSecret') ?? '');
    return { code: new TOTP({ secret }).generate({ timestamp: clock.now() }) };
  }
  if (action !== 'passkeyAdd') return {};
  return { credential: createPasskey().create(requireOptions(html, action), browser.origin()) };
}
