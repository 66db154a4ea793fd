/** The account, the pages of the operator and My mailbox: whoever is something else, or somebody else, reaches nothing there. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { Area } from '../../src/dashboard/page.ts';
import { PAGES } from '../../src/dashboard/pages.ts';
import { addPasskey } from '../../src/dashboard/people/passkeys-store.ts';
import { listSessions } from '../../src/dashboard/people/sessions-store.ts';
import { findPersonByEmail } from '../../src/dashboard/people/store.ts';
import { routeOf } from '../../src/dashboard/routes.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { newId } from '../../src/system/ids.ts';
import { addAppPassword, addMailbox } from '../mailboxes/fixtures.ts';
import { type Browser, formsOf, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { rowsBesideRequests } from '../support/database-rows.ts';
import { openTestApp } from '../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const { app, tenantId } = testApp;
const passwordHash = await hashPassword(PASSWORD, '');

async function openMailbox(name: string): Promise<{ mailbox: MailboxRow; browser: Browser }> {
  const mailbox = await addMailbox(testApp, { address: `${name}@people.example`, passwordHash });
  const browser = await openBrowser(testApp);
  await browser.open('/mailbox/login');
  await browser.submit('login', { address: mailbox.address, password: PASSWORD });
  assert.equal(browser.page.url, '/mailbox', browser.page.html);
  return { mailbox, browser };
}

const { browser: holder } = await openMailbox('holder');
const EMAIL = 'ann@people.example';
const people = {
  owner: await logIn(testApp, { email: EMAIL }),
  admin: await logIn(testApp, { role: 'admin' }),
  viewer: await logIn(testApp, { role: 'viewer' }),
  operator: await logIn(testApp, { tenantId: null, isOperator: true }),
};

const rows = () => rowsBesideRequests(testApp);

/** Ids of rows of a table, the newest first. */
function idsOf(table: 'dashboardSessions', where: string): string[] {
  const database = new Sqlite(join(testApp.dataDir, 'postrider.db'), { readonly: true });
  try {
    const found = database.prepare<[], string>(`SELECT id FROM ${table} WHERE ${where} ORDER BY id DESC`);
    return found.pluck().all();
  } finally {
    database.close();
  }
}

/** A path of each page of an area, with ids that may be those of something, and the names of its actions. */
function pagesOf(wanted: Area): { path: string; actions: string[] }[] {
  const anyId: Record<string, string> = { ':number': '1', ':id': tenantId };
  return PAGES.filter(({ area }) => area === wanted).map((page) => ({
    path: routeOf(page).replace(/:\w+/g, (parameter) => anyId[parameter] ?? tenantId),
    actions: Object.keys(page.actions ?? {}),
  }));
}

/** Checks that an answer leads to a login, and that nothing else has happened. */
async function isSentToLogin(browser: Browser, area: Area, login: string): Promise<void> {
  const pages = pagesOf(area);
  assert.ok(pages.length > 0);
  for (const { path, actions } of pages) {
    const shown = await browser.send(path, { method: 'GET' });
    assert.deepEqual(
      [shown.status, shown.headers['location']],
      [303, `${login}?to=${encodeURIComponent(path)}`],
      path,
    );
    for (const action of actions) {
      const { status, headers } = await browser.send(path, { method: 'POST', body: `_action=${action}` });
      assert.deepEqual(
        [status, String(headers['location']).split('?')[0]],
        [303, login],
        `${path} ${action}`,
      );
    }
  }
}

test('the pages and actions of the operator do not exist for members, whatever their role', async () => {
  const before = rows();
  for (const role of ['owner', 'admin', 'viewer'] as const) {
    const missing = await people[role].send('/operator/nothing/at/all', { method: 'GET' });
    assert.equal(missing.status, 404);
    for (const { path, actions } of pagesOf('operator')) {
      const { status, html } = await people[role].send(path, { method: 'GET' });
      assert.deepEqual([status, html], [404, missing.html], `${role} ${path}`);
      for (const action of actions) {
        const sent = { method: 'POST', body: `_action=${action}` } as const;
        assert.equal((await people[role].send(path, sent)).status, 404, `${role} ${path} ${action}`);
      }
    }
  }
  assert.deepEqual(rows(), before);
});

test('the owner of a mailbox is nobody to the pages of operators, of people and of tenants', async () => {
  const before = rows();
  for (const area of ['operator', 'account', 'tenant'] as const) await isSentToLogin(holder, area, '/login');
  assert.deepEqual(rows(), before);
});

test('nobody but the owner of a mailbox opens My mailbox, not even the operator', async () => {
  const before = rows();
  for (const browser of Object.values(people)) await isSentToLogin(browser, 'mailbox', '/mailbox/login');
  assert.deepEqual(rows(), before);
});

/** Sends a form of a page with another value of one field, and returns the answer. */
async function sendWith(browser: Browser, path: string, fields: Record<string, string>) {
  return browser.send(path, { method: 'POST', body: String(new URLSearchParams(fields)) });
}

/** Values that each page makes anew: keys of forms, challenges, and the secret of one-time codes with its picture. */
const FRESH =
  /name="_once" value="[^"]*"|data-options="[^"]*"|[A-Z2-7]{32}|src="data:[^"]*"|href="otpauth:[^"]*"/g;

test('an id of somebody else in a form of the account is that of nothing, and changes nothing', async () => {
  const other = await findPersonByEmail(app.db.read, EMAIL);
  assert.ok(other);
  const passkey = newId('psk', app.clock.now());
  const [session] = await listSessions(app.db.read, { personId: other.id, mailboxId: null });
  assert.ok(session);
  await app.db.commit(addPasskey, {
    session: session.id,
    id: passkey,
    credentialId: 'foreign',
    personId: other.id,
    publicKey: Buffer.from('key'),
    counter: 0,
    transports: '[]',
    name: 'Laptop',
    createdAt: app.clock.now(),
    lastUsedAt: null,
  });
  const elsewhere = await testApp.addTenant('elsewhere');
  await logIn(testApp, { tenantId: elsewhere.tenantId });
  const attempts: [Record<string, string>, string[]][] = [
    [{ _action: 'end' }, idsOf('dashboardSessions', `personId = '${other.id}' OR mailboxId IS NOT NULL`)],
    [{ _action: 'passkeyName', name: 'Mine' }, [passkey]],
    [{ _action: 'passkeyRemove', password: PASSWORD }, [passkey]],
    [{ _action: 'leave' }, [elsewhere.tenantId]],
  ];
  // Attempts that were refused stand in the audit log.
  const { auditEntries: _before, ...before } = rows();
  const thief = people.viewer;
  const sessions = idsOf('dashboardSessions', '1');
  for (const [form, ids] of attempts) {
    assert.ok(ids.length > 0, form['_action']);
    for (const id of ids) {
      const field = form['_action'] === 'leave' ? 'tenant' : 'id';
      const nothing = `${id.slice(0, -8)}00000000`;
      const [foreign, missing] = [
        await sendWith(thief, '/account', { ...form, [field]: id }),
        await sendWith(thief, '/account', { ...form, [field]: nothing }),
      ];
      assert.equal(foreign.status, 422, `${form['_action']}: ${foreign.html.slice(0, 500)}`);
      const neutral = (html: string) =>
        html.replaceAll(id, 'ID').replaceAll(nothing, 'ID').replace(FRESH, '');
      assert.equal(neutral(foreign.html), neutral(missing.html), form['_action']);
    }
  }
  const { auditEntries: _after, ...after } = rows();
  assert.deepEqual(after, before);
  assert.deepEqual(idsOf('dashboardSessions', '1'), sessions);
});

/** Returns the row of a mailbox and those that belong to it, by table. */
function rowsOfMailbox({ id }: MailboxRow): Record<string, string> {
  const database = new Sqlite(join(testApp.dataDir, 'postrider.db'), { readonly: true });
  try {
    const tables = database
      .prepare<[], string>(
        `SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c
          WHERE m.type = 'table' AND c.name = 'mailboxId' AND m.name <> 'dashboardSessions'`,
      )
      .pluck()
      .all();
    const select = (table: string, column: string) =>
      JSON.stringify(database.prepare(`SELECT * FROM "${table}" WHERE "${column}" = ?`).all(id));
    return Object.fromEntries([
      ['mailboxes', select('mailboxes', 'id')],
      ...tables.map((table) => [table, select(table, 'mailboxId')]),
    ]);
  } finally {
    database.close();
  }
}

test('a form of another mailbox, sent to one’s own, changes nothing of the other one', async () => {
  const mine = await openMailbox('mine');
  const theirs = await openMailbox('theirs');
  await addAppPassword(testApp, theirs.mailbox);
  await theirs.browser.open('/mailbox/rules/new');
  await theirs.browser.submit('save', {
    name: 'Bills',
    field1: 'subject',
    operator1: 'contains',
    value1: 'bill',
  });
  const before = rowsOfMailbox(theirs.mailbox);
  const sessions = idsOf('dashboardSessions', `mailboxId = '${theirs.mailbox.id}'`);
  let sent = 0;
  for (const { path } of pagesOf('mailbox')) {
    const { html } = await theirs.browser.send(path, { method: 'GET' });
    for (const { values } of formsOf(html).filter(({ values: form }) => form.has('_action'))) {
      if (values.get('_action') === 'logout') continue;
      values.delete('_once');
      const { status } = await mine.browser.send(path, { method: 'POST', body: String(values) });
      assert.ok(status < 500, `${path} ${values}`);
      sent += 1;
    }
  }
  assert.ok(sent > 8, String(sent));
  for (const id of sessions)
    assert.equal((await sendWith(mine.browser, '/mailbox/security', { _action: 'end', id })).status, 422);
  assert.deepEqual(rowsOfMailbox(theirs.mailbox), before);
  assert.deepEqual(idsOf('dashboardSessions', `mailboxId = '${theirs.mailbox.id}'`), sessions);
});
