/** Links that let somebody in once: they have no more rights than whoever has made them, and take nothing away. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { insertLoginLink } from '../../src/dashboard/people/links-store.ts';
import { setRole } from '../../src/dashboard/people/memberships-store.ts';
import { endOperator, findPersonByEmail, removeMember } from '../../src/dashboard/people/store.ts';
import type { LoginLinkRow } from '../../src/db/people-tables.ts';
import { newId } from '../../src/system/ids.ts';
import { type Browser, formsOf, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const { app, tenantId } = testApp;
await logIn(testApp, { email: 'always@people.example', isOperator: true });

async function idOf(email: string) {
  const person = await findPersonByEmail(app.db.read, email);
  assert.ok(person, email);
  return person.id;
}

/** Sends a form of a page with other values, and returns the link that the answer shows. */
async function makeLink(browser: Browser, page: string, fields: Record<string, string>): Promise<string> {
  const { html } = await browser.open(page);
  const { _action: action = '', ...others } = fields;
  const form = formsOf(html).find(({ values }) => values.get('_action') === action);
  const values = new URLSearchParams(form?.values);
  for (const [name, value] of Object.entries(others)) values.set(name, value);
  const answer = await browser.send(page, { method: 'POST', body: String(values) });
  const [link = ''] = /\/link\/[\w-]{43}/.exec(answer.html) ?? [];
  assert.notEqual(link, '', answer.html);
  return link;
}

async function isOpen(link: string): Promise<boolean> {
  const { html } = await (await openBrowser(testApp)).open(link);
  return !/does not work any more/.test(html);
}

test('the links of an owner end when it is no owner any more', async () => {
  const losses = {
    role: (personId: string) => app.db.commit(setRole, { tenantId, personId, role: 'admin' }),
    membership: (personId: string) => app.db.commit(removeMember, { tenantId, personId }),
  };
  await logIn(testApp, { email: 'member@people.example', role: 'viewer' });
  const member = await idOf('member@people.example');
  for (const [name, lose] of Object.entries(losses)) {
    const email = `owner-of-${name}@people.example`;
    const owner = await logIn(testApp, { email });
    const page = '/t/default/live/team';
    const invited = `guest-of-${name}@people.example`;
    const links = [
      await makeLink(owner, page, { _action: 'invite', email: invited, role: 'owner' }),
      await makeLink(owner, page, { _action: 'recover', id: member }),
    ];
    assert.deepEqual(await Promise.all(links.map(isOpen)), [true, true]);
    const late = await openBrowser(testApp);
    await late.open(links[0] ?? '');
    await lose(await idOf(email));
    assert.deepEqual(await Promise.all(links.map(isOpen)), [false, false]);
    await late.submit('enter', { name: 'Late', password: PASSWORD });
    assert.equal(await findPersonByEmail(app.db.read, invited), undefined);
  }
});

test('the links of an operator end when it is no operator any more', async () => {
  const email = 'operator@people.example';
  const operator = await logIn(testApp, { email, isOperator: true, tenantId: null });
  const links = [
    await makeLink(operator, '/operator/people', { _action: 'invite', email: 'next@people.example' }),
    await makeLink(operator, `/operator/tenants/${tenantId}`, {
      _action: 'invite',
      email: 'own@people.example',
    }),
  ];
  assert.deepEqual(await Promise.all(links.map(isOpen)), [true, true]);
  await app.db.commit(endOperator, await idOf(email));
  assert.deepEqual(await Promise.all(links.map(isOpen)), [false, false]);
});

test('an operator sees the open links to operate, and withdraws one', async () => {
  const operator = await logIn(testApp, { isOperator: true, tenantId: null });
  // The list has the newest link first.
  await clock.advance(1);
  const link = await makeLink(operator, '/operator/people', { _action: 'invite', email: 'w@people.example' });
  await operator.open('/operator/people');
  assert.match(operator.page.html, /w@people\.example/);
  await operator.submit('withdraw');
  assert.match(operator.page.url, /said=withdrawn/);
  assert.equal(await isOpen(link), false);
});

test('an invitation takes no right away, not even that of the last owner', async () => {
  const { tenantId: other } = await testApp.addTenant('other');
  const email = 'sole@people.example';
  const owner = await logIn(testApp, { email, tenantId: other });
  const link = await makeLink(owner, '/t/other/live/team', { _action: 'invite', email, role: 'viewer' });
  await owner.open(link);
  await owner.submit('accept');
  assert.equal((await owner.open('/t/other/live/audit')).status, 200);

  await logIn(testApp, { email: 'second@people.example', tenantId: other, role: 'viewer' });
  const second = await openBrowser(testApp);
  await second.open('/login');
  await second.submit('login', { email: 'second@people.example', password: PASSWORD });
  const up = { _action: 'invite', email: 'second@people.example', role: 'owner' };
  await second.open(await makeLink(owner, '/t/other/live/team', up));
  await second.submit('accept');
  assert.equal((await second.open('/t/other/live/audit')).status, 200);
});

test('at most 200 people join a tenant within a day', async () => {
  const { tenantId: busy } = await testApp.addTenant('busy');
  const owner = await logIn(testApp, { tenantId: busy });
  const used: Omit<LoginLinkRow, 'id' | 'tokenHash' | 'createdAt' | 'expiresAt' | 'usedAt'> = {
    kind: 'invitation',
    email: 'x@people.example',
    tenantId: busy,
    role: 'viewer',
    isOperator: 0,
    personId: null,
    madeBy: 'test',
    makerId: null,
  };
  for (let count = 0; count < 199; count++) {
    const now = clock.now();
    const times = { createdAt: now, expiresAt: now, usedAt: now };
    await app.db.commit(insertLoginLink, { ...used, ...times, id: newId('lnk', now), tokenHash: `${count}` });
  }
  const page = '/t/busy/live/team';
  const link = await makeLink(owner, page, { _action: 'invite', email: 'y@people.example', role: 'viewer' });
  const guest = await openBrowser(testApp);
  await guest.open(link);
  await guest.submit('enter', { name: 'Guest', password: PASSWORD });
  assert.match(guest.page.html, /At most 200 people join a tenant within a day/);
  assert.equal(await findPersonByEmail(app.db.read, 'y@people.example'), undefined);
});
