/** The audit log: who stands in it, in which tenant, who sees what of it, and that nobody can fill it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { recordAct } from '../../src/dashboard/audit/record.ts';
import { recordAudit } from '../../src/dashboard/audit/store.ts';
import type { PublicContext } from '../../src/dashboard/page.ts';
import { PAGES } from '../../src/dashboard/pages.ts';
import { findPersonByEmail } from '../../src/dashboard/people/store.ts';
import { routeOf } from '../../src/dashboard/routes.ts';
import type { AuditRow } from '../../src/db/people-tables.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { newId } from '../../src/system/ids.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { switchTotpOn } from '../support/second-factor.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const { app, tenantId } = testApp;
const DAY_MS = 24 * 60 * 60_000;

/** Returns the rows of a person. */
async function rowsOf(email: string): Promise<AuditRow[]> {
  const person = await findPersonByEmail(app.db.read, email);
  assert.ok(person);
  const rows = app.db.read.selectFrom('auditEntries').selectAll().where('personId', '=', person.id);
  return rows.orderBy('id').execute();
}

/** Returns the actions in the order of the alphabet: rows of one millisecond have no other. */
const actionsOf = (rows: readonly AuditRow[]) => rows.map(({ action }) => action).sort();

test('a form logs the fields that its action declares, each of them cut, and none that a stranger has added', async () => {
  const email = 'ada@people.example';
  const browser = await logIn(testApp, { email });
  await browser.open('/account');
  await browser.submit('profile', {
    name: 'Ada',
    [`x${'y'.repeat(10_000)}`]: 'z'.repeat(500_000),
    empty: '',
  });
  await clock.advance(1);
  await browser.submit('profile', { name: 'Ada', language: `de${'x'.repeat(100_000)}` });
  const details = (await rowsOf(email)).filter(({ action }) => action === 'account profile');
  assert.deepEqual(JSON.parse(details[0]?.details ?? ''), {
    name: 'Ada',
    before: { name: `Ann of ${email}` },
  });
  assert.equal(JSON.parse(details[1]?.details ?? '').language.length, 201);
});

test('the page says what was done, with a line for each value and what it was before', async () => {
  const owner = await logIn(testApp, { email: 'reader@people.example' });
  await owner.open('/t/default/live/topics');
  await owner.submit('create', { name: 'News <b>', description: '' });
  await owner.open((owner.page.html.match(/\/t\/default\/live\/topics\/\w+_\w+/) ?? [''])[0]);
  await clock.advance(1);
  await owner.submit('save', { name: 'Newer' });
  const { html } = await owner.open('/t/default/live/audit');
  assert.match(html, /Changed a topic<small class="muted"> \(Live\)/);
  assert.match(html, />name: Newer \(before: News &lt;b[^"]*\)</);
  assert.doesNotMatch(html.slice(html.indexOf('<main')), /\{&quot;|\{"name|>\{\}</);
});

test('all values of a line together have an upper bound', async () => {
  const email = 'olaf@people.example';
  await logIn(testApp, { email });
  const person = await findPersonByEmail(app.db.read, email);
  const form = { names: [], files: [], isEmpty: false, values: () => ['😀'.repeat(500)] };
  await recordAct(app, {
    page: { area: 'public', path: '/login' },
    name: 'long',
    context: { clientAddress: '192.0.2.1' } as PublicContext,
    ...(person && { acted: { person } }),
    form,
    logs: ['one', 'two', 'three', 'four'],
  });
  const [{ details = '' } = {}] = (await rowsOf(email)).filter(
    ({ action }) => action === 'public/login long',
  );
  assert.ok(Buffer.byteLength(details) <= 1_000, details);
  assert.deepEqual(Object.keys(JSON.parse(details)), ['one', 'two']);
});

test('nothing of the content of mail, and no secret, is declared to be logged', () => {
  const never =
    /^(?:subject|html|text|body|values|variables|url|destination|emails?\.|totp|credential)|password|secret|token|value\d|field\d/i;
  for (const page of PAGES)
    for (const [name, { logs = [] }] of Object.entries(page.actions ?? {}))
      for (const field of logs) assert.doesNotMatch(field, never, `${routeOf(page)} ${name}`);
});

test('the operator sees that something was done in a tenant, and no details of it', async () => {
  const owner = await logIn(testApp);
  await owner.open('/t/default/live/team');
  await owner.submit('invite', { email: 'hidden@people.example', role: 'viewer' });
  const operator = await logIn(testApp, { tenantId: null, isOperator: true, email: 'olga@people.example' });
  await operator.open(`/operator/tenants/${tenantId}`);
  await operator.submit('plan', { plan: 'unlimited' });
  await operator.open('/operator/audit');
  assert.match(operator.page.html, /Invited somebody/);
  assert.doesNotMatch(operator.page.html, /hidden@people\.example/);
  assert.match(operator.page.html, />plan: unlimited/);
});

test('what the operator does to a tenant stands in the log of the tenant too', async () => {
  const email = 'olga@people.example';
  const operator = await openBrowser(testApp);
  await operator.open('/login');
  await operator.submit('login', { email, password: PASSWORD });
  await operator.open(`/operator/tenants/${tenantId}`);
  await operator.submit('invite', { email });
  const [path = ''] = /\/link\/[\w-]{43}/.exec(operator.page.html) ?? [];
  await operator.open(path);
  await operator.submit('accept');
  assert.equal(operator.page.url, '/t/default/live');
  const own = (await rowsOf(email)).filter((row) => row.tenantId === tenantId);
  assert.deepEqual(actionsOf(own), [
    'operator/tenants/:id invite',
    'operator/tenants/:id plan',
    'public/link/:token accept',
  ]);
  assert.ok(own.every(({ target }) => !path.includes(target) || target === ''));
});

test('logins, wrong codes, and links stand in the log, with the tenant that the person belongs to alone', async () => {
  const email = 'nora@people.example';
  const browser = await logIn(testApp, { email, role: 'viewer' });
  const { code } = await switchTotpOn(browser, clock);
  await clock.advance(60_000);
  await browser.submit('logout');
  await browser.open('/login');
  await browser.submit('login', { email, password: 'wrong password' });
  await browser.submit('login', { email, password: PASSWORD });
  await browser.submit('code', { code: '000000' });
  await browser.submit('code', { code: code() });
  const rows = await rowsOf(email);
  assert.deepEqual(actionsOf(rows), [
    'account totpOn',
    'public/link/:token enter',
    'public/login login',
    'public/login/code code',
    'public/login/code code refused',
    'public/logout logout',
  ]);
  assert.ok(rows.every((row) => row.tenantId === tenantId && row.details === '{}' && row.target === ''));
});

test('what the owner of a mailbox does stands in the log of its tenant', async () => {
  const passwordHash = await hashPassword(PASSWORD, '');
  const mailbox = await addMailbox(testApp, { address: 'box@people.example', passwordHash });
  const browser = await openBrowser(testApp);
  await browser.open('/mailbox/login');
  await browser.submit('login', { address: mailbox.address, password: PASSWORD });
  await browser.open('/mailbox/vacation');
  await browser.submit('set', { subject: 'Away', text: 'I am in the mountains' });
  const rows = await app.db.read
    .selectFrom('auditEntries')
    .selectAll()
    .where('mailboxId', '=', mailbox.id)
    .orderBy('id')
    .execute();
  assert.deepEqual(actionsOf(rows), ['mailbox/vacation set', 'public/mailbox/login login']);
  assert.ok(rows.every((row) => row.tenantId === tenantId && !row.details.includes('mountains')));
});

test('beyond 300 lines in a day, each action of a person has one line, which counts', async () => {
  const email = 'mallory@people.example';
  const browser = await logIn(testApp, { email, role: 'admin' });
  const { id: personId } = (await findPersonByEmail(app.db.read, email)) ?? {};
  assert.ok(personId);
  const row = {
    ...{ tenantId, personId, mailboxId: null, actor: email, address: '192.0.2.1', target: '', mode: null },
    ...{ action: 'tenant/topics create', details: '{"name":"x"}', times: 1 },
  };
  const record = async () => {
    await clock.advance(1);
    const at = clock.now();
    return app.db.commit(recordAudit, { ...row, id: newId('adt', at), at });
  };
  for (let count = 0; count < 400; count++) await record();
  await browser.open('/t/default/live/topics');
  await browser.submit('create', { name: 'Offers', description: '' });
  const rows = (await rowsOf(email)).filter(({ action }) => action === row.action);
  assert.ok(rows.length <= 300, `${rows.length}`);
  const counting = rows.filter(({ details }) => details === '');
  assert.equal(counting.length, 1);
  assert.equal(
    rows.reduce((sum, { times }) => sum + times, 0),
    401,
  );
  const owner = await logIn(testApp);
  await owner.open('/t/default/live/audit?limit=100');
  assert.match(owner.page.html, /Created a topic × \d+/);
  await clock.advance(DAY_MS);
  await record();
  const [last] = (await rowsOf(email)).slice(-1);
  assert.equal(last?.details, row.details);
});

test('a change is logged with what the fields were before, without those that have stayed', async () => {
  const email = 'olive@people.example';
  const browser = await logIn(testApp, { email });
  await browser.open('/account');
  await browser.submit('profile', { name: 'Olive', language: 'en', timeZone: 'Europe/Berlin' });
  await browser.submit('profile', { name: 'Olive the Second', timeZone: '' });
  const rows = (await rowsOf(email)).filter(({ action }) => action === 'account profile');
  const lines = rows.map(({ details }) => JSON.parse(details));
  assert.deepEqual(
    lines.find(({ name }) => name === 'Olive the Second'),
    { name: 'Olive the Second', language: 'en', before: { name: 'Olive', timeZone: 'Europe/Berlin' } },
  );
});

test('a change to one of several things of a page is logged with what that one was before', async () => {
  const email = 'orla@people.example';
  const owner = await logIn(testApp, { email });
  await logIn(testApp, { email: 'first@people.example', role: 'viewer' });
  await logIn(testApp, { email: 'second@people.example', role: 'admin' });
  const { id = '' } = (await findPersonByEmail(app.db.read, 'second@people.example')) ?? {};
  const body = String(new URLSearchParams({ _action: 'role', id, role: 'owner' }));
  assert.equal((await owner.send('/t/default/live/team', { method: 'POST', body })).status, 303);
  const [row] = (await rowsOf(email)).filter(({ action }) => action === 'tenant/team role');
  assert.deepEqual(JSON.parse(row?.details ?? ''), { id, role: 'owner', before: { role: 'admin' } });
});
