/** Attacks on people who log in: planted sessions, links used twice at once, foreign hosts that lead here, and pages in frames. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeSetUpLink } from '../../src/dashboard/people/admin-api.ts';
import { makeLoginLink } from '../../src/dashboard/people/invite.ts';
import { findPersonByEmail, listOperators } from '../../src/dashboard/people/store.ts';
import { newToken } from '../../src/dashboard/people/tokens.ts';
import { logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { openTestApp } from '../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const { app } = testApp;

const statusOf = async (browser: Awaited<ReturnType<typeof openBrowser>>, cookie: string) =>
  (await browser.send('/account', { method: 'GET', headers: { cookie } })).status;

test('a link to set up, and one for a new password, work once when they are used at the same time', async () => {
  const setUp = new URL((await makeSetUpLink(app, 'http://127.0.0.1:8025')) ?? '').pathname;
  const operators = [await openBrowser(testApp), await openBrowser(testApp), await openBrowser(testApp)];
  for (const browser of operators) await browser.open(setUp);
  await Promise.all(
    operators.map((browser, number) =>
      browser.submit('enter', { name: 'Olga', email: `olga${number}@people.example`, password: PASSWORD }),
    ),
  );
  assert.equal((await listOperators(app.db.read)).length, 1);

  const email = 'lea@people.example';
  await logIn(testApp, { email });
  const person = await findPersonByEmail(app.db.read, email);
  const recovery = await makeLoginLink(app, {
    kind: 'recovery',
    email: null,
    tenantId: null,
    role: null,
    isOperator: 0,
    personId: person?.id ?? null,
    madeBy: 'test',
    makerId: null,
  });
  const guests = [await openBrowser(testApp), await openBrowser(testApp), await openBrowser(testApp)];
  for (const browser of guests) await browser.open(recovery);
  await Promise.all(
    guests.map((browser, number) => browser.submit('enter', { password: `the new password ${number}` })),
  );
  assert.equal(guests.filter(({ page }) => page.url === '/t/default/live').length, 1);
});

test('a login has a token of its own, whatever the browser has brought, and ends the session of before', async () => {
  const email = 'sam@people.example';
  const victim = await logIn(testApp, { email });
  const before = victim.cookie();
  const attacker = await logIn(testApp, { email: 'mallory@people.example' });
  for (const planted of [`session=${newToken()}`, attacker.cookie(), before]) {
    const browser = await openBrowser(testApp);
    const body = String(new URLSearchParams({ _action: 'login', email, password: PASSWORD }));
    const { headers } = await browser.send('/login', { method: 'POST', body, headers: { cookie: planted } });
    const [set = ''] = [headers['set-cookie'] ?? []].flat();
    const own = set.split(';')[0] ?? '';
    assert.match(own, /^session=[\w-]{43}$/);
    assert.notEqual(own, planted);
    assert.deepEqual([await statusOf(browser, own), await statusOf(browser, planted)], [200, 303], planted);
    for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/']) assert.ok(set.includes(attribute), set);
  }
});

test('a host that DNS leads here is answered nothing of the dashboard, also with a cookie that is valid', async () => {
  const person = await logIn(testApp, { email: 'dan@people.example' });
  const { port } = new URL(person.origin());
  for (const name of [
    'rebind.evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ]) {
    const headers = { host: `${name}:${port}` };
    for (const path of ['/login', '/account', '/t/default/live', '/link/nothing', '/login/openid']) {
      const { status, html } = await person.send(path, { method: 'GET', headers });
      assert.ok(status >= 400, `${name}${path}: ${status}`);
      assert.doesNotMatch(html, /Postrider<\/title>|dan@people/, `${name}${path}`);
    }
    const body = '_action=profile&name=Mallory&language=&timeZone=';
    const { status } = await person.send('/account', { method: 'POST', body, headers });
    assert.ok(status >= 400, `${name}: ${status}`);
  }
  assert.doesNotMatch((await person.open('/account')).html, /Mallory/);
});

test('no answer of the dashboard is shown in a frame of another page', async () => {
  const person = await logIn(testApp);
  for (const path of [
    '/',
    '/login',
    '/login/code',
    '/account',
    '/t/default/live',
    '/t/nobody/live',
    '/link/nothing',
  ]) {
    const { headers } = await person.send(path, { method: 'GET' });
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, path);
    assert.equal(headers['x-frame-options'], 'DENY', path);
    assert.equal(headers['cache-control'], 'no-store', path);
  }
});
