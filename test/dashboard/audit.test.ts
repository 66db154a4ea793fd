/** The audit log: who stands in it, in which tenant, who sees what of it, and that nobody can fill it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { recorded } from '../../src/dashboard/audit/record.ts';
import { beginAudit, completeAudit, expireAudit } from '../../src/dashboard/audit/store.ts';
import { dashboard } from '../../src/dashboard/feature.ts';
import type { PublicContext } from '../../src/dashboard/page.ts';
import { PAGES } from '../../src/dashboard/pages.ts';
import { findPersonByEmail } from '../../src/dashboard/people/store.ts';
import { routeOf } from '../../src/dashboard/routes.ts';
import { advanceInstallation } from '../../src/db/installation/store.ts';
import type { AuditRow } from '../../src/db/people-tables.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { AppError } from '../../src/system/errors.ts';
import { newId } from '../../src/system/ids.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { execute } from '../support/execute.ts';
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

const LONG = {
  page: { area: 'public', path: '/login' },
  name: 'long',
  context: { clientAddress: '192.0.2.1' } as PublicContext,
} as const;

test('all values of a line together have an upper bound', async () => {
  const email = 'olaf@people.example';
  await logIn(testApp, { email });
  const person = await findPersonByEmail(app.db.read, email);
  const form = { names: [], files: [], isEmpty: false, values: () => ['😀'.repeat(500)] };
  const logs = ['one', 'two', 'three', 'four'];
  await recorded(app, { ...LONG, form, logs }, async (actsAs) => {
    await actsAs({ ...(person && { person }) });
    return { to: '/' };
  });
  const [{ details = '' } = {}] = (await rowsOf(email)).filter(
    ({ action }) => action === 'public/login long',
  );
  assert.ok(Buffer.byteLength(details) <= 1_000, details);
  assert.deepEqual(Object.keys(JSON.parse(details)), ['one', 'two']);
});

test('nothing of the content of mail, and no secret, is declared to be logged', () => {
  const never =
    /^(?:subject|html|text(?!Color)|body|values|variables|url|destination|emails?\.|totp|credential)|password|secret|token|value\d|field\d/i;
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
    'public/login/authenticator later',
    'public/login/code code',
    'public/login/code code',
    'public/logout logout',
  ]);
  assert.ok(rows.every((row) => row.tenantId === tenantId && row.details === '{}' && row.target === ''));
  const codes = rows.filter(({ action }) => action === 'public/login/code code');
  assert.deepEqual(codes.map(({ outcome }) => outcome).sort(), ['done', 'refused']);
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

/** Begins lines with these values as somebody who does much in a day. */
async function writerOf(email: string) {
  const browser = await logIn(testApp, { email, role: 'admin' });
  const { id: personId } = (await findPersonByEmail(app.db.read, email)) ?? {};
  assert.ok(personId);
  const row = {
    ...{ tenantId, personId, mailboxId: null, actor: email, address: '192.0.2.1', target: '', mode: null },
    ...{ action: 'tenant/topics create', details: '{"name":"x"}' },
  };
  const begin = async (values: Partial<typeof row> = {}) => {
    await clock.advance(1);
    const at = clock.now();
    return app.db.commit(beginAudit, { ...row, ...values, id: newId('adt', at), at });
  };
  return { browser, row, begin };
}

test('beyond 300 lines in a day, the same action with the same values has one line, which counts', async () => {
  const email = 'mallory@people.example';
  const { browser, row, begin } = await writerOf(email);
  for (let count = 0; count < 400; count++) await begin();
  await browser.open('/t/default/live/topics');
  await browser.submit('create', { name: 'Offers', description: '' });
  const rows = (await rowsOf(email)).filter(({ action }) => action === row.action);
  const counting = rows.filter(({ outcome }) => outcome === 'counted');
  assert.ok(rows.length - counting.length <= 300, `${rows.length}`);
  assert.deepEqual(counting.map(({ details }) => JSON.parse(details).name).sort(), ['Offers', 'x']);
  assert.equal(
    rows.reduce((sum, { times }) => sum + times, 0),
    401,
  );
  const owner = await logIn(testApp);
  await owner.open('/t/default/live/audit?limit=100');
  assert.match(owner.page.html, /Created a topic × \d+/);
  await clock.advance(DAY_MS);
  assert.equal(await begin(), 'begun');
});

test('nobody makes more than 1,000 lines in a day, and who has made them still logs in', async () => {
  const email = 'trudy@people.example';
  const { browser, begin } = await writerOf(email);
  for (let count = 0; count < 1_000; count++) await begin({ target: `top_${count}` });
  assert.equal(await begin({ target: 'another' }), 'refused');
  assert.equal(await begin({ target: 'top_900' }), 'counted');
  await browser.open('/t/default/live/topics');
  await browser.submit('create', { name: 'Never made', description: '' });
  assert.equal(browser.page.status, 429);
  assert.match(browser.page.html, /use the API, or go on tomorrow/);
  assert.doesNotMatch((await browser.open('/t/default/live/topics')).html, /Never made/);
  await browser.submit('logout');
  await browser.open('/login');
  await browser.submit('login', { email, password: PASSWORD });
  assert.equal(browser.page.url, '/t/default/live');
  const logins = (await rowsOf(email)).filter(({ action }) => action === 'public/login login');
  assert.deepEqual(
    logins.map(({ outcome }) => outcome),
    ['counted'],
  );
  await clock.advance(DAY_MS);
});

test('the line is there before the action, and says afterwards how it has ended', async () => {
  const email = 'before@people.example';
  await logIn(testApp, { email });
  const person = await findPersonByEmail(app.db.read, email);
  assert.ok(person);
  const lineOf = async (name: string) =>
    (await rowsOf(email)).find(({ action }) => action === `public/login ${name}`);
  const endings = {
    done: async () => ({ to: '/' }),
    refused: async () => Promise.reject(new AppError('invalid_state', 'not now')),
    failed: async () => Promise.reject(new Error('a fault')),
  };
  for (const [name, end] of Object.entries(endings)) {
    const run = recorded(app, { ...LONG, name }, async (actsAs) => {
      await actsAs({ person });
      assert.equal((await lineOf(name))?.outcome, null);
      return end();
    });
    await run.catch(() => undefined);
    assert.equal((await lineOf(name))?.outcome, name);
  }
});

test('an action does not take place without its line, and one that has taken place is not said to have failed', async () => {
  const email = 'full@people.example';
  await logIn(testApp, { email });
  const person = await findPersonByEmail(app.db.read, email);
  assert.ok(person);
  const failing = (name: string) => ({
    ...app,
    db: {
      ...app.db,
      commit: ((write: { name: string }, input: never) =>
        write.name === name
          ? Promise.reject(new Error('the disk is full'))
          : app.db.commit(write as never, input)) as unknown as typeof app.db.commit,
    },
  });
  let runs = 0;
  const act = (name: string) =>
    recorded(failing(name), { ...LONG, name }, async (actsAs) => {
      await actsAs({ person });
      runs++;
      return { to: '/done' };
    });
  await assert.rejects(act(beginAudit.name), /disk is full/);
  assert.equal(runs, 0);
  assert.deepEqual(await act(completeAudit.name), { to: '/done' });
  const owner = await logIn(testApp);
  const line = (await rowsOf(email)).find(({ action }) => action.includes('audit.complete'));
  assert.equal(line?.outcome, null);
  await owner.open('/t/default/live/audit');
  assert.match(owner.page.html, /audit\.complete<\/code>.{0,80}unknown: the service has ended meanwhile/s);
});

test('a line about a person has its name and address', async () => {
  const email = 'omar@people.example';
  const owner = await logIn(testApp, { email });
  await logIn(testApp, { email: 'gone@people.example', role: 'viewer' });
  const { id = '' } = (await findPersonByEmail(app.db.read, 'gone@people.example')) ?? {};
  for (const action of ['role', 'recover', 'remove']) {
    await clock.advance(1);
    const body = String(new URLSearchParams({ _action: action, id, role: 'admin' }));
    await owner.send('/t/default/live/team', { method: 'POST', body });
  }
  const rows = (await rowsOf(email)).filter(({ action }) => action.startsWith('tenant/team'));
  assert.deepEqual(
    rows.map(({ details }) => JSON.parse(details).person),
    Array.from({ length: 3 }, () => 'Ann of gone@people.example <gone@people.example>'),
  );
});

test('nothing changes or deletes a line but its outcome and its age', async () => {
  const email = 'guarded@people.example';
  await logIn(testApp, { email });
  const [row] = await rowsOf(email);
  assert.ok(row);
  for (const [column, value] of Object.entries({
    actor: 'x',
    details: 'x',
    times: 2,
    tenantId: 'ten_x',
    at: 1,
  }))
    assert.throws(
      () => execute(testApp, `UPDATE auditEntries SET ${column} = '${value}' WHERE id = '${row.id}'`),
      /keeps its values/,
      column,
    );
  for (const outcome of ["'failed'", "'counted'", 'NULL'])
    assert.throws(() => execute(testApp, `UPDATE auditEntries SET outcome = ${outcome}`), /keeps its values/);
  assert.throws(() => execute(testApp, 'DELETE FROM auditEntries'), /keeps its rows/);
  assert.deepEqual((await rowsOf(email))[0], row);
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
  assert.deepEqual(JSON.parse(row?.details ?? ''), {
    person: 'Ann of second@people.example <second@people.example>',
    ...{ id, role: 'owner', before: { role: 'admin' } },
  });
});

test('lines are deleted after 400 days, and not before', async () => {
  const email = 'old@people.example';
  await logIn(testApp, { email });
  const step = dashboard.retention(app).find(({ kind }) => kind === 'audit log');
  const expire = async () => {
    await app.db.commit(advanceInstallation, { now: clock.now() });
    return step?.expire(clock.now(), { after: '', rows: 100_000 });
  };
  await clock.advance(389 * DAY_MS);
  await expire();
  const range = { after: '', before: newId('adt', clock.now()), rows: 100_000 };
  await assert.rejects(app.db.commit(expireAudit, range), /keeps its rows/);
  await clock.advance(10 * DAY_MS);
  await expire();
  assert.equal((await rowsOf(email)).length, 2);
  await clock.advance(DAY_MS);
  assert.notEqual((await expire())?.deleted, 0);
  assert.deepEqual(await rowsOf(email), []);
});
