/** People and what they belong to: invitations, rights that change, people who leave, and those who cannot. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import { makeLoginLink } from '../../src/dashboard/people/invite.ts';
import { endOperator, findPersonByEmail } from '../../src/dashboard/people/store.ts';
import { beginDeletion, createDeletionKind } from '../../src/tenant-control/delete.ts';
import { type Browser, formsOf, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { runDueTasks } from '../support/tasks.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const { app } = testApp;
const other = await testApp.addTenant('other');

const find = (email: string) => findPersonByEmail(app.db.read, email);

/** Returns the form of an action that is about somebody or something. */
async function post(browser: Browser, path: string, { action, ...about }: Record<string, string>) {
  const { html } = await browser.open(path);
  const form = formsOf(html).find(
    ({ values }) =>
      values.get('_action') === action &&
      Object.entries(about).every(
        ([name, value]) => !['id', 'tenant'].includes(name) || values.get(name) === value,
      ),
  );
  assert.ok(form, `no form for ${action} at ${path}`);
  const values = new URLSearchParams(form.values);
  for (const [name, value] of Object.entries(about)) values.set(name, value);
  return browser.send(path, { method: 'POST', body: String(values) });
}

async function invite(browser: Browser, email: string, role = 'viewer', tenant = 'default'): Promise<string> {
  await browser.open(`/t/${tenant}/live/team`);
  await browser.submit('invite', { email, role });
  return /\/link\/[\w-]{43}/.exec(browser.page.html)?.[0] ?? '';
}

const opens = async (browser: Browser, path: string) =>
  (await browser.send(path, { method: 'GET' })).status === 200;

test('a person who exists accepts an invitation after logging in, and lands in the tenant under a new session', async () => {
  const owner = await logIn(testApp, { tenantId: other.tenantId });
  const email = 'ida@people.example';
  const home = await logIn(testApp, { email });
  const link = await invite(owner, email, 'admin', 'other');
  const browser = await openBrowser(testApp);
  await browser.open(link);
  assert.match(browser.page.html, /Do you have an account here with this address\?/);
  await browser.open(`/login?to=${encodeURIComponent(link)}`);
  await browser.submit('login', { email, password: PASSWORD });
  assert.match(browser.page.html, /You are logged in as ida@people\.example/);
  const before = browser.cookie();
  await browser.submit('accept');
  assert.equal(browser.page.url, '/t/other/live');
  assert.notEqual(browser.cookie(), before);
  assert.equal(await opens(home, '/account'), false, 'its other sessions have ended');
  await browser.open(link);
  assert.match(browser.page.html, /does not work any more/);
});

test('an invitation is for its address alone, and for one of two who use it at the same time', async () => {
  const owner = await logIn(testApp);
  const link = await invite(owner, 'igor@people.example');
  const guests = [await openBrowser(testApp), await openBrowser(testApp)];
  for (const guest of guests) await guest.open(link);
  await Promise.all(guests.map((guest) => guest.submit('enter', { name: 'Igor', password: PASSWORD })));
  assert.equal(guests.filter(({ page }) => page.url === '/login/authenticator').length, 1);

  const second = await invite(owner, 'igor@people.example', 'owner');
  const stranger = await logIn(testApp, { email: 'ivan@people.example', role: 'viewer' });
  await stranger.open(second);
  assert.match(stranger.page.html, /Log out, and open the link again/);
  const answer = await stranger.send(second, { method: 'POST', body: '_action=accept' });
  assert.equal(answer.status, 422);
  assert.equal(await opens(stranger, '/t/default/live/audit'), false);
});

test('an invitation to operate works for a person who exists', async () => {
  const email = 'ines@people.example';
  const browser = await logIn(testApp, { email });
  const link = await makeLoginLink(app, {
    kind: 'invitation',
    email,
    tenantId: null,
    role: null,
    isOperator: 1,
    personId: null,
    madeBy: 'test',
    makerId: null,
  });
  await browser.open(link);
  await browser.submit('accept');
  assert.equal(browser.page.url, '/operator');
});

test('whoever changes its own role or leaves stays logged in, under a new session', async () => {
  const email = 'otto@people.example';
  const browser = await logIn(testApp, { email });
  await logIn(testApp, { role: 'owner' });
  const host = await logIn(testApp, { tenantId: other.tenantId });
  await browser.open(await invite(host, email, 'viewer', 'other'));
  await browser.submit('accept');
  const { id = '' } = (await find(email)) ?? {};
  const before = browser.cookie();
  await post(browser, '/t/default/live/team', { action: 'role', id, role: 'viewer' });
  assert.notEqual(browser.cookie(), before);
  assert.equal(await opens(browser, '/t/default/live/team'), true);
  assert.equal(await opens(browser, '/t/default/live/audit'), false);
  const left = await post(browser, '/account', { action: 'leave', tenant: testApp.tenantId });
  assert.equal(left.status, 303);
  assert.equal(await opens(browser, '/t/default/live'), false);
  assert.equal(await opens(browser, '/t/other/live'), true);
});

test('whoever belongs to nothing any more is deleted: who leaves, who is removed, and who was an operator alone', async () => {
  const owner = await logIn(testApp);
  const email = 'gone@people.example';
  const leaving = await logIn(testApp, { email, role: 'viewer' });
  assert.match((await leaving.open('/account')).html, /your account is deleted/);
  await leaving.submit('leave');
  assert.equal(leaving.page.url, '/login?said=left');
  assert.equal(await find(email), undefined);

  await logIn(testApp, { email, role: 'viewer' });
  const { id = '' } = (await find(email)) ?? {};
  await post(owner, '/t/default/live/team', { action: 'remove', id });
  assert.equal(await find(email), undefined);

  const operators = ['op1@people.example', 'op2@people.example'];
  for (const one of operators) await logIn(testApp, { email: one, tenantId: null, isOperator: true });
  const person = await find('op2@people.example');
  assert.ok(person);
  await app.db.commit(endOperator, person.id);
  assert.equal(await find('op2@people.example'), undefined);
});

test('the page of an invitation does not say whether its person has an account', async () => {
  const owner = await logIn(testApp, { tenantId: other.tenantId });
  await logIn(testApp, { email: 'known@people.example' });
  const pages: string[] = [];
  for (const email of ['known@people.example', 'fresh@people.example']) {
    const link = await invite(owner, email, 'viewer', 'other');
    const guest = await openBrowser(testApp);
    for (const browser of [guest, owner]) {
      const { html } = await browser.open(link);
      pages.push(
        html.replaceAll(link, 'LINK').replaceAll(encodeURIComponent(link), 'LINK').replaceAll(email, 'EMAIL'),
      );
    }
    if (email === 'known@people.example') {
      await guest.submit('enter', { name: 'Thief', password: PASSWORD });
      assert.match(guest.page.html, /exists already; log in/);
      assert.equal(await opens(guest, '/account'), false);
    }
  }
  const neutral = pages.map((html) => html.replace(/(?:value|data-options)="[^"]*"/g, ''));
  assert.equal(neutral[0], neutral[2]);
  assert.equal(neutral[1], neutral[3]);
});

test('the cookie of a person who was removed opens nothing any more', async () => {
  const owner = await logIn(testApp);
  const email = 'rex@people.example';
  const removed = await logIn(testApp, { email, role: 'admin' });
  const { id = '' } = (await find(email)) ?? {};
  await post(owner, '/t/default/live/team', { action: 'remove', id });
  for (const path of ['/account', '/t/default/live', '/t/default/test/emails'])
    assert.equal((await removed.send(path, { method: 'GET' })).status, 303, path);
  const form = await removed.send('/account', { method: 'POST', body: '_action=profile&name=Rex' });
  assert.equal(form.status, 303);
});

test('an owner makes no link for a new password of a person who belongs elsewhere too, or operates', async () => {
  const owner = await logIn(testApp);
  const people = [
    { email: 'both@people.example', tenantId: other.tenantId },
    { email: 'operator@people.example', tenantId: null, isOperator: true },
  ];
  for (const person of people) {
    const browser = await logIn(testApp, person);
    await browser.open(await invite(owner, person.email));
    await browser.submit('accept');
    const { id = '' } = (await find(person.email)) ?? {};
    const answer = await post(owner, '/t/default/live/team', { action: 'recover', id });
    assert.match(answer.html, /does not belong to this tenant alone/);
    assert.doesNotMatch(answer.html, /\/link\//);
  }
});

test('a link for a new password does not work any more once its person also belongs elsewhere', async () => {
  const owner = await logIn(testApp);
  const email = 'later@people.example';
  const browser = await logIn(testApp, { email });
  const { id = '' } = (await find(email)) ?? {};
  const { html } = await post(owner, '/t/default/live/team', { action: 'recover', id });
  const [link = ''] = /\/link\/[\w-]{43}/.exec(html) ?? [];
  const host = await logIn(testApp, { tenantId: other.tenantId });
  await browser.open(await invite(host, email, 'owner', 'other'));
  await browser.submit('accept');
  const thief = await openBrowser(testApp);
  await thief.open(link);
  await thief.submit('enter', { password: 'password of a thief' });
  assert.match(thief.page.html, /does not belong to this tenant alone/);
  assert.equal(await opens(browser, '/t/other/live'), true);
});

test('a link for a new password ends the sessions, the one-time codes and the recovery codes', async () => {
  const owner = await logIn(testApp);
  const email = 'lost@people.example';
  const browser = await logIn(testApp, { email });
  const { id = '' } = (await find(email)) ?? {};
  const { html } = await post(owner, '/t/default/live/team', { action: 'recover', id });
  const guest = await openBrowser(testApp);
  await guest.open(/\/link\/[\w-]{43}/.exec(html)?.[0] ?? '');
  await guest.submit('enter', { password: 'another good password' });
  assert.equal(guest.page.url, '/t/default/live', guest.page.html);
  assert.equal(await opens(browser, '/account'), false);
});

test('a person deletes its own account with its password, and the audit log keeps what it has done', async () => {
  const email = 'dora@people.example';
  const browser = await logIn(testApp, { email, role: 'viewer' });
  await browser.open('/account');
  await browser.submit('deleteAccount', { password: 'not the password' });
  assert.match(browser.page.html, /password is wrong/);
  const cookie = browser.cookie();
  await browser.submit('deleteAccount', { password: PASSWORD });
  assert.equal(browser.page.url, '/login?said=accountDeleted');
  assert.equal((await browser.send('/account', { method: 'GET', headers: { cookie } })).status, 303);
  assert.equal(await find(email), undefined);
  const lines = await app.db.read.selectFrom('auditEntries').select(['actor', 'action']).execute();
  assert.ok(lines.some(({ actor, action }) => actor.includes(email) && action === 'account deleteAccount'));
});

test('the command line replaces a last owner who is lost, by somebody new or by a member, and the new owner removes the old one', async () => {
  const { tenantId } = await testApp.addTenant('orphaned');
  const email = 'vanished@people.example';
  const lost = await logIn(testApp, { email, tenantId });
  const member = await logIn(testApp, { email: 'heir@people.example', tenantId, role: 'viewer' });
  const control = await createControlServer(app);
  // What `postrider person link EMAIL --tenant orphaned --role owner` sends.
  const linkFor = async (address: string) => {
    const payload = { email: address, tenant: 'orphaned', role: 'owner' };
    const made = await control.inject({ method: 'POST', url: '/people/links', payload });
    assert.equal(made.statusCode, 200, made.body);
    return new URL(made.json<{ url: string }>().url).pathname;
  };
  const successor = await openBrowser(testApp);
  await successor.open(await linkFor('successor@people.example'));
  await successor.submit('enter', { name: 'Successor', password: PASSWORD });
  await successor.submit('later');
  assert.equal(successor.page.url, '/t/orphaned/live');
  await member.open(await linkFor('heir@people.example'));
  await member.submit('accept');
  assert.equal(await opens(member, '/t/orphaned/live/audit'), true, 'the member is an owner now');
  const { id = '' } = (await find(email)) ?? {};
  await post(successor, '/t/orphaned/live/team', { action: 'remove', id });
  assert.equal(await opens(lost, '/t/orphaned/live'), false);
  assert.equal(await find(email), undefined);
  await control.close();
});

test('the last owner of a tenant and the last operator neither leave nor are deleted', async () => {
  const { tenantId } = await testApp.addTenant('lonely');
  const email = 'last@people.example';
  const browser = await logIn(testApp, { email, tenantId });
  const { id } = (await find(email)) ?? {};
  for (const [action, fields] of [
    ['leave', { tenant: tenantId }],
    ['deleteAccount', { password: PASSWORD }],
  ] as const) {
    const { status, html } = await post(browser, '/account', { action, ...fields });
    assert.equal(status, 422, action);
    assert.match(html, /keeps its last owner/);
  }
  const control = await createControlServer(app);
  const answer = await control.inject({ method: 'DELETE', url: `/people/${encodeURIComponent(email)}` });
  assert.match(answer.body, /keeps its last owner/);
  await control.close();
  assert.equal(await opens(browser, '/t/lonely/live'), true);
  assert.ok(id);

  const operator = await logIn(testApp, { email: 'alone@people.example', tenantId: null, isOperator: true });
  for (const one of await app.db.read.selectFrom('people').selectAll().where('isOperator', '=', 1).execute())
    if (one.email !== 'alone@people.example') await app.db.commit(endOperator, one.id);
  const refused = await post(operator, '/account', { action: 'deleteAccount', password: PASSWORD });
  assert.match(refused.html, /keeps its last operator/);
});

test('people who belong to nothing but a deleted tenant are deleted with it, and the others stay', async () => {
  const { tenantId } = await testApp.addTenant('doomed');
  const emails = { only: 'only@people.example', two: 'two@people.example', operator: 'oper@people.example' };
  const owner = await logIn(testApp, { email: emails.only, tenantId });
  await owner.open('/account');
  await owner.submit('profile', { name: 'Only' });
  const second = await logIn(testApp, { email: emails.two });
  await second.open(await invite(owner, emails.two, 'admin', 'doomed'));
  await second.submit('accept');
  await logIn(testApp, { email: emails.operator, tenantId, isOperator: true });
  await owner.open('/t/doomed/live/team');
  await owner.submit('invite', { email: 'someone@people.example', role: 'viewer' });
  await app.db.commit(beginDeletion, { tenant: tenantId, now: clock.now() });
  const kind = createDeletionKind(app);
  for (let slices = 0; (await runDueTasks(app, kind)).length > 0; slices++) {
    assert.ok(slices < 200);
    await clock.advance(5_000);
  }
  assert.equal(await find(emails.only), undefined);
  assert.ok(await find(emails.two));
  assert.ok(await find(emails.operator));
  assert.equal(await opens(owner, '/account'), false);
  const lines = await app.db.read
    .selectFrom('auditEntries')
    .select('action')
    .where('tenantId', '=', tenantId)
    .execute();
  assert.ok(lines.some(({ action }) => action === 'tenant/team invite'));
});
