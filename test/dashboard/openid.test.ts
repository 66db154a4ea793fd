/** Logging in at a provider of OpenID Connect: whom it lets in, and every answer that must be refused. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeLoginLink } from '../../src/dashboard/people/invite.ts';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { realClock } from '../../src/system/clock.ts';
import { createFetch } from '../../src/system/fetch.ts';
import { ANY_TARGET } from '../support/any-target.ts';
import { type Browser, logIn, openBrowser } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { CLIENT_ID, CLIENT_SECRET, foreignKey, startIssuer } from '../support/openid-issuer.ts';
import { recordLog } from '../support/record-log.ts';
import { switchTotpOn } from '../support/second-factor.ts';
import { openTestApp, type TestAppOptions } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';

const clock = createFakeClock(realClock.now());
const issuer = await startIssuer();
const { log, lines } = recordLog('info');
const testApp = await openApp({ issuer: issuer.url });
after(async () => {
  await testApp.close();
  await issuer.close();
});

/** Opens an application that knows a provider. */
async function openApp(
  { issuer: url }: { issuer: string },
  system: TestAppOptions['system'] = { fetch: createFetch(ANY_TARGET, zoneDns('')) },
) {
  const dataDir = newDataDirectory();
  const secretFile = join(dataDir, 'openid-secret');
  writeFileSync(secretFile, `${CLIENT_SECRET}\n`);
  return openTestApp({
    system: { log, clock, ...system },
    env: {
      POSTRIDER_DATA_DIR: dataDir,
      POSTRIDER_OPENID_ISSUER: url,
      POSTRIDER_OPENID_CLIENT_ID: CLIENT_ID,
      POSTRIDER_OPENID_CLIENT_SECRET_FILE: secretFile,
      POSTRIDER_OPENID_NAME: 'Example <Login>',
    },
  });
}

/** Follows the link to the provider on the page that is shown, and returns where it leads. */
async function begin(browser: Browser): Promise<string> {
  const [, link = ''] = /href="(\/login\/openid\?[^"]*)"/.exec(browser.page.html) ?? [];
  assert.notEqual(link, '', browser.page.html);
  const { status, headers } = await browser.send(link.replaceAll('&amp;', '&'), { method: 'GET' });
  assert.equal(status, 303);
  return String(headers['location']);
}

type Claims = Record<string, unknown>;

async function logInAt(path: string, claims: Claims, known?: Browser): Promise<Browser> {
  const browser = known ?? (await openBrowser(testApp));
  await browser.open(path);
  await browser.open(issuer.logIn(await begin(browser), { claims }));
  return browser;
}

/** Makes a person who has used an account at the provider once, while it was logged in. */
async function joined(claims: { sub: string; email: string }): Promise<Browser> {
  const browser = await logIn(testApp, { email: claims.email });
  await logInAt('/account', claims, browser);
  assert.equal(browser.page.url, '/account');
  return browser;
}

test('a person who exists is let in by its account there, and lands where it wanted to go', async () => {
  const { html } = (await joined({ sub: 'olga', email: 'olga@people.example' })).page;
  assert.match(html, /The provider lets you in/);
  const browser = await openBrowser(testApp);
  await browser.open('/t/default/test/emails');
  assert.match(browser.page.html, /Continue with Example &lt;Login/);
  const authorization = new URL(await begin(browser));
  assert.equal(authorization.origin + authorization.pathname, `${issuer.url}/authorize`);
  const asked = Object.fromEntries(authorization.searchParams);
  assert.deepEqual(
    [asked['client_id'], asked['response_type'], asked['scope'], asked['code_challenge_method']],
    [CLIENT_ID, 'code', 'openid email profile', 'S256'],
  );
  const claims = { sub: 'olga', email: 'Olga@People.example' };
  await browser.open(issuer.logIn(authorization.href, { claims }));
  assert.equal(browser.page.url, '/t/default/test/emails');
});

test('an account joins no person whose password somebody else may have chosen', async () => {
  const email = 'victim@people.example';
  const attacker = await logIn(testApp, { email });
  const claims = { sub: 'victim', email };
  const victim = await logInAt('/login', claims);
  assert.equal(victim.page.status, 403, victim.page.html);
  assert.match(victim.page.html, /has never been used with the provider/);
  assert.equal(victim.cookie(), '');
  await attacker.open('/account');
  assert.match(attacker.page.html, /Go to the provider from here once/);
  const other = await logIn(testApp, { email: 'else@people.example' });
  assert.equal((await logInAt('/account', claims, other)).page.status, 403, 'another person is logged in');
});

test('a link for a new password lets a person use another account at the provider', async () => {
  const email = 'moved@people.example';
  await joined({ sub: 'closed', email });
  const { db } = testApp.app;
  const { id } = await db.read
    .selectFrom('people')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  const link = await makeLoginLink(testApp.app, {
    ...{ kind: 'recovery', email: null, tenantId: null, role: null, isOperator: 0 },
    ...{ personId: id, madeBy: 'test', makerId: null },
  });
  const browser = await openBrowser(testApp);
  await browser.open(link);
  await browser.submit('enter', { password: 'another good password' });
  const old = await logInAt('/login', { sub: 'closed', email });
  assert.match(old.page.html, /has never been used with the provider/);
  await logInAt('/account', { sub: 'new', email }, browser);
  assert.equal((await logInAt('/login', { sub: 'new', email })).page.url, '/t/default/live');
});

test('nobody is made who comes without an invitation', async () => {
  const browser = await logInAt('/login', { sub: 'stranger', email: 'stranger@people.example' });
  assert.equal(browser.page.status, 403);
  assert.match(browser.page.html, /Nobody here has the address stranger@people\.example/);
  assert.equal(browser.cookie(), '');
  const { db } = testApp.app;
  const found = await db.read.selectFrom('people').selectAll().where('email', 'like', 'stranger%').execute();
  assert.deepEqual(found, []);
});

/** Returns why the last login was refused. */
function lastReason(): string {
  const line = lines.filter(({ msg }) => msg === 'a login at the OpenID provider was refused').at(-1);
  return String(line?.['reason']);
}

async function invite(email: string): Promise<string> {
  return makeLoginLink(testApp.app, {
    kind: 'invitation',
    email,
    tenantId: testApp.tenantId,
    role: 'viewer',
    isOperator: 0,
    personId: null,
    madeBy: 'test',
    makerId: null,
  });
}

test('an invitation is accepted by its own address, once, and its person logs in at the provider from then on', async () => {
  const email = 'ida@people.example';
  const link = await invite(email);
  const wrong = await logInAt(link, { sub: 'other', email: 'other@people.example' });
  assert.match(wrong.page.html, /Nobody here has the address other@people\.example/);
  const claims = { sub: 'ida', email, name: 'Ida \u0007Invited' };
  const browser = await logInAt(link, claims);
  assert.equal(browser.page.url, '/t/default/live');
  assert.match(browser.page.html, /Ida {2}Invited/);
  await browser.open(link);
  assert.match(browser.page.html, /does not work any more/);
  assert.equal((await logInAt('/login', claims)).page.url, '/t/default/live');
});

test('a wrong issuer, audience, nonce, signature or time, and an address that is not verified, are refused', async () => {
  const honest = { sub: 'wanda', email: 'wanda@people.example' };
  await joined(honest);
  const wrongs: [string, Claims, RegExp][] = [
    ['issuer', { iss: 'https://evil.example' }, /"iss"/],
    ['audience', { aud: 'another client' }, /"aud/],
    ['audience of two', { aud: [CLIENT_ID, 'another'], azp: 'another' }, /"azp/],
    ['nonce', { nonce: 'another' }, /"nonce/],
    ['no nonce', { nonce: undefined }, /"nonce.*missing/],
    ['time', { exp: 1_000_000 }, /"exp/],
    ['no subject', { sub: undefined }, /"sub.*missing/],
    ['not verified', { email_verified: false }, /not verified/],
    ['not said', { email_verified: undefined }, /not verified/],
    ['a word', { email_verified: 'yes' }, /not verified/],
    ['no address', { email: undefined }, /not verified/],
  ];
  for (const [what, claims, reason] of wrongs) {
    const browser = await logInAt('/login', { ...honest, ...claims });
    assert.equal(browser.page.status, 403, what);
    assert.match(browser.page.html, /The login at the provider was not accepted/, what);
    assert.equal(browser.cookie(), '', what);
    assert.match(lastReason(), reason, what);
  }
  const browser = await openBrowser(testApp);
  await browser.open('/login');
  await browser.open(issuer.logIn(await begin(browser), { claims: honest, key: foreignKey() }));
  assert.equal(browser.page.status, 403, 'signature');
  assert.match(lastReason(), /signature/);
  assert.equal((await logInAt('/login', honest)).page.url, '/t/default/live', 'an honest one is accepted');
});

test('an answer works once, in the browser that has asked, for ten minutes', async () => {
  const claims = { sub: 'tina', email: 'tina@people.example' };
  await joined(claims);
  const browser = await openBrowser(testApp);
  await browser.open('/login');
  const path = issuer.logIn(await begin(browser), { claims });
  const thief = await openBrowser(testApp);
  await thief.open('/login');
  await begin(thief);
  await thief.open(path);
  assert.equal(thief.page.status, 403);
  const cookie = browser.cookie();
  await browser.open(path);
  assert.equal(browser.page.url, '/t/default/live');
  const again = await thief.send(path, { method: 'GET', headers: { cookie } });
  assert.equal(again.status, 403);
  assert.equal((await thief.send('/login/openid/return', { method: 'GET' })).status, 403);
  const late = await openBrowser(testApp);
  await late.open('/login');
  const lateAnswer = issuer.logIn(await begin(late), { claims });
  await clock.advance(10 * 60_000);
  await late.open(lateAnswer);
  assert.equal(late.page.status, 403);
  assert.match(lastReason(), /taken too long/);
});

test('an address that the provider gives to another account opens nothing of the first one', async () => {
  const email = 'ann.reused@people.example';
  await joined({ sub: 'first', email });
  assert.equal((await logInAt('/login', { sub: 'first', email })).page.url, '/t/default/live');
  const second = await logInAt('/login', { sub: 'second', email });
  assert.match(second.page.html, /belongs to another account/);
  const renamed = await logInAt('/login', { sub: 'first', email: 'renamed@people.example' });
  assert.equal(renamed.page.url, '/t/default/live');
});

test('the second factor of a person is asked for behind the provider, too', async () => {
  const email = 'tom@people.example';
  await switchTotpOn(await joined({ sub: 'tom', email }), clock);
  const browser = await logInAt('/login', { sub: 'tom', email });
  assert.equal(browser.page.url, '/login/code');
});

test('the wanted page never lies on another host, and the secret of the client stands in no line of the log', async () => {
  await joined({ sub: 'ben', email: 'ben@people.example' });
  const browser = await logInAt(`/login?to=${encodeURIComponent('//evil.example')}`, {
    sub: 'ben',
    email: 'ben@people.example',
  });
  assert.equal(browser.page.url, '/t/default/live');
  assert.ok(!lines.some((line) => JSON.stringify(line).includes(CLIENT_SECRET)));
});

test('a provider that names another issuer, cannot be reached, or is private lets nobody in', async () => {
  const lying = await startIssuer({ issuer: 'https://evil.example' });
  const guard = createTargetGuard({ allow: [], own: [] });
  const cases = [
    { url: lying.url },
    { url: 'http://127.0.0.1:1' },
    { url: issuer.url, system: { fetch: createFetch(guard, zoneDns('')) } },
  ];
  for (const { url, system } of cases) {
    const app = await openApp({ issuer: url }, system);
    const browser = await openBrowser(app);
    const before = issuer.asked.length;
    const { status, html } = await browser.open('/login/openid');
    assert.equal(status, 503, url);
    assert.match(html, /cannot be reached/);
    assert.equal(issuer.asked.length, before);
    await app.close();
  }
  await lying.close();
});

test('without a provider there is no link, and its pages do not exist', async () => {
  const app = await openTestApp();
  const browser = await openBrowser(app);
  assert.doesNotMatch((await browser.open('/login')).html, /openid/);
  for (const path of ['/login/openid', '/login/openid/return?code=1&state=2'])
    assert.equal((await browser.send(path, { method: 'GET' })).status, 404, path);
  await app.close();
});
