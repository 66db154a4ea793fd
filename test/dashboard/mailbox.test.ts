/** My mailbox: the owner logs in with the password of the mailbox, and reaches this mailbox alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JunkSenders } from '../../src/accounts/junk-senders.ts';
import { beginMailSession, type MailSession } from '../../src/accounts/mail-session.ts';
import { noAccounts } from '../../src/accounts/running-accounts.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { updateMailbox } from '../../src/mailboxes/store.ts';
import { resumeTenant, suspendTenant } from '../../src/tenant-control/suspend.ts';
import { addAppPassword, addMailbox } from '../mailboxes/fixtures.ts';
import { type Browser, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
/** Sessions of mail programs, and what lies in the folders for spam, by mailbox. */
const sessions = new Map<string, MailSession[]>();
const junk = new Map<string, JunkSenders>();
const testApp: TestApp = await openTestApp({
  system: { clock },
  accounts: {
    ...noAccounts,
    listSessions: async (id) => sessions.get(id) ?? [],
    async disconnect(id, sessionId) {
      const open = sessions.get(id) ?? [];
      const left = open.filter((one) => sessionId !== undefined && one.id !== sessionId);
      sessions.set(id, left);
      return open.length - left.length;
    },
    listJunkSenders: async ({ id }) => junk.get(id) ?? { folder: 'Junk', senders: [] },
  },
  env: { POSTRIDER_MAILBOXES_FAILURES_PER_ACCOUNT: '5' },
});
after(() => testApp.close());
const { app, tenantId } = testApp;

let passwordHash = '';
before(async () => {
  passwordHash = await hashPassword(PASSWORD, '');
});

let count = 0;
const add = (fields: Partial<MailboxRow> & { aliases?: string[] } = {}) =>
  addMailbox(testApp, { address: `ann${++count}@people.example`, passwordHash, ...fields });

async function logInTo(address: string, password = PASSWORD): Promise<Browser> {
  const browser = await openBrowser(testApp);
  await browser.open('/mailbox/login');
  await browser.submit('login', { address, password });
  return browser;
}

/** Opens My mailbox of a new mailbox. */
async function openMine(fields: Parameters<typeof add>[0] = {}) {
  const mailbox = await add(fields);
  const browser = await logInTo(mailbox.address);
  assert.equal(browser.page.url, '/mailbox', browser.page.html);
  return { mailbox, browser };
}

const isIn = async (browser: Browser) => (await browser.send('/mailbox', { method: 'GET' })).status === 200;
const change = (mailbox: MailboxRow, fields: { passwordHash?: string; status?: 'suspended' }) =>
  app.db.commit(updateMailbox, { tenantId, id: mailbox.id, now: clock.now(), change: fields });
const shown = async (mailbox: MailboxRow) =>
  (await testApp.request('GET', `/v1/mailboxes/${mailbox.id}`, { key: testApp.liveKey })).body;

test('the owner logs in with the password of the mailbox, and sees its addresses, its quota and the settings', async () => {
  const { browser } = await openMine({ aliases: ['sales@people.example'], usedBytes: 500_000 });
  assert.match(browser.page.html, /sales@people\.example/);
  assert.match(browser.page.html, /500 kB of 1 MB/);
  assert.match(browser.page.html, /can set this password and create app passwords/);
  assert.match(browser.page.html, /profile\.mobileconfig\?emailaddress=ann/);
  assert.match(browser.page.html, /src="data:image\/png;base64,/);
});

test('an app password, a wrong password and an address of nobody are refused in the same words', async () => {
  const mailbox = await add();
  const { secret } = await addAppPassword(testApp, mailbox);
  const words = [];
  for (const [address, password] of [
    [mailbox.address, secret],
    [mailbox.address, 'wrong password'],
    ['nobody@people.example', PASSWORD],
  ] as const) {
    const { page } = await logInTo(address, password);
    assert.equal(page.status, 422);
    words.push(/role="alert"[^>]*>([^<]*)</.exec(page.html)?.[1]);
  }
  assert.deepEqual(new Set(words), new Set(['The address or the password is wrong']));
});

test('failures are limited with those of mail programs', async () => {
  const mailbox = await add();
  for (let attempt = 0; attempt < 5; attempt++) await logInTo(mailbox.address, `wrong ${attempt}`);
  assert.match((await logInTo(mailbox.address)).page.html, /Too many attempts have failed/);
  await clock.advance(60 * 60_000);
});

test('a session ends with another password, with a suspension of the mailbox, and with its deletion', async () => {
  const other = await openMine();
  await change(other.mailbox, { passwordHash: await hashPassword('another password', '') });
  assert.equal(await isIn(other.browser), false);
  const suspended = await openMine();
  await change(suspended.mailbox, { status: 'suspended' });
  assert.equal(await isIn(suspended.browser), false);
  assert.match((await logInTo(suspended.mailbox.address)).page.html, /The mailbox is suspended/);
  const deleted = await openMine();
  const url = `/v1/mailboxes/${deleted.mailbox.id}`;
  assert.equal((await testApp.request('DELETE', url, { key: testApp.liveKey })).status, 204);
  assert.equal(await isIn(deleted.browser), false);
});

test('a session ends while the tenant is suspended, and nobody logs in then', async () => {
  const { browser, mailbox } = await openMine();
  await app.db.commit(suspendTenant, { tenant: tenantId });
  assert.equal(await isIn(browser), false);
  assert.match((await logInTo(mailbox.address)).page.html, /The mailbox is suspended/);
  await app.db.commit(resumeTenant, { tenant: tenantId, now: clock.now() });
  assert.equal(await isIn(browser), true);
});

test('the owner changes the password, which ends all other sessions but the present one', async () => {
  const { browser, mailbox } = await openMine();
  const elsewhere = await logInTo(mailbox.address);
  await browser.open('/mailbox/security');
  await browser.submit('password', { currentPassword: 'wrong password', password: 'a new password' });
  assert.match(browser.page.html, /The current password is wrong/);
  await browser.submit('password', { currentPassword: PASSWORD, password: 'short' });
  assert.match(browser.page.html, /role="alert"/);
  await browser.submit('password', { currentPassword: PASSWORD, password: 'a new password' });
  assert.match(browser.page.html, /The password has changed/);
  assert.deepEqual([await isIn(browser), await isIn(elsewhere)], [true, false]);
  assert.equal((await logInTo(mailbox.address, 'a new password')).page.url, '/mailbox');
});

test('the owner ends sessions of other browsers, and logs out', async () => {
  const { browser, mailbox } = await openMine();
  const elsewhere = await logInTo(mailbox.address);
  await browser.open('/mailbox/security');
  await browser.submit('end');
  assert.deepEqual([await isIn(browser), await isIn(elsewhere)], [true, false]);
  await browser.submit('logout');
  assert.equal(browser.page.url, '/mailbox/login?said=loggedOut');
  assert.equal(await isIn(browser), false);
});

test('the owner chooses a time zone, in which all times are shown and read', async () => {
  const { mailbox, browser } = await openMine();
  assert.match(browser.page.html, /<time [^>]* UTC">/);
  await browser.submit('zone', { timeZone: 'Mars/Olympus' });
  assert.equal(browser.page.status, 422);
  assert.match(browser.page.html, /must be the name of a time zone/);
  await browser.submit('zone', { timeZone: 'Asia/Tokyo' });
  assert.equal(browser.page.url, '/mailbox?said=saved', browser.page.html);
  assert.match(browser.page.html, /<time [^>]* GMT\+9">.*<footer[^>]*>.*Asia\/Tokyo/s);
  await browser.open('/mailbox/vacation');
  await browser.submit('set', { text: 'Away', from: '2026-12-01T09:00' });
  assert.equal((await shown(mailbox)).vacation.from, '2026-12-01T00:00:00.000Z');
  assert.match((await browser.open('/mailbox/vacation')).html, /value="2026-12-01T09:00"/);
  assert.doesNotMatch((await browser.open('/mailbox/security')).html, /UTC/);
  await browser.open('/mailbox');
  await browser.submit('zone', { timeZone: '' });
  assert.equal((await shown(mailbox)).timeZone, null);
});

test('the owner sets an automatic reply, forwarding and app passwords', async () => {
  const { browser, mailbox } = await openMine();
  await browser.open('/mailbox/vacation');
  await browser.submit('set', { from: '2026-12-24T08:00', subject: 'Away', text: 'Back in\r\nJanuary' });
  const vacation = {
    from: '2026-12-24T08:00:00.000Z',
    until: null,
    subject: 'Away',
    text: 'Back in\nJanuary',
  };
  assert.deepEqual((await shown(mailbox)).vacation, vacation);
  assert.match(browser.page.html, /value="2026-12-24T08:00"/);
  await browser.submit('set', { until: '2026-12-01T08:00' });
  assert.match(browser.page.html, /must be later/);
  await browser.submit('end');
  assert.equal((await shown(mailbox)).vacation, null);

  await browser.open('/mailbox/forwarding');
  await browser.submit('set', { forwardTo: 'one@other.example\r\n two@other.example\r\n', keepCopy: [] });
  const { forwardTo, keepCopy } = await shown(mailbox);
  assert.deepEqual([forwardTo, keepCopy], [['one@other.example', 'two@other.example'], false]);

  await browser.open('/mailbox/app-passwords');
  const phone = { name: 'Phone', protocols: 'imap', expires: '2027-01-31' };
  for (const currentPassword of ['', 'wrong password']) {
    await browser.submit('createAppPassword', { ...phone, currentPassword });
    assert.match(browser.page.html, /The current password is wrong/);
  }
  assert.match(browser.page.html, /No app passwords yet/);
  await browser.submit('createAppPassword', { ...phone, currentPassword: PASSWORD });
  const [, secret = ''] = /data-copy="([a-z0-9-]+)"/.exec(browser.page.html) ?? [];
  assert.match(secret, /^(?:[a-z0-9]{4}-){8}[a-z0-9]{4}$/);
  await browser.open('/mailbox/app-passwords');
  assert.doesNotMatch(browser.page.html, new RegExp(secret));
  assert.match(browser.page.html, /Phone.*IMAP \(reading\).*Jan 31, 2027/s);
  await browser.submit('revoke');
  assert.match(browser.page.html, /No app passwords yet/);
});

test('the owner adds, changes, reorders and deletes rules; a page that another window has overtaken changes none', async () => {
  const { browser, mailbox } = await openMine();
  const addRule = async (fields: Record<string, string>) => {
    await browser.open('/mailbox/rules/new');
    await browser.submit('save', fields);
  };
  await addRule({
    name: 'Bills',
    field1: 'subject',
    operator1: 'not contains',
    value1: 'spam',
    fileInto: 'Bills',
  });
  await addRule({ name: 'Large', field2: 'larger', value2: '5000000', star: 'on' });
  const [bills, large] = (await shown(mailbox)).rules;
  assert.deepEqual(bills, {
    name: 'Bills',
    match: 'all',
    conditions: [{ field: 'subject', value: 'spam', operator: 'contains', not: true }],
    fileInto: 'Bills',
    stop: true,
  });
  assert.deepEqual(large.conditions, [{ field: 'larger', value: '5000000' }]);
  assert.match(browser.page.html, /subject does not contain “spam”/);

  const overtaken = await logInTo(mailbox.address);
  await overtaken.open('/mailbox/rules');
  await browser.submit('down');
  const names = async () => (await shown(mailbox)).rules.map(({ name }: { name: string }) => name);
  assert.deepEqual(await names(), ['Large', 'Bills']);
  await overtaken.submit('delete');
  assert.match(overtaken.page.html, /changed in another window/);
  assert.deepEqual(await names(), ['Large', 'Bills']);

  await browser.open('/mailbox/rules/2');
  await browser.submit('save', { name: 'Invoices', fileInto: 'a\0b' });
  assert.match(browser.page.html, /value="Invoices".*role="alert"/s);
  await browser.submit('save', { name: 'Invoices', fileInto: 'Invoices' });
  await browser.submit('delete');
  assert.deepEqual(await names(), ['Invoices']);
  assert.equal((await browser.open('/mailbox/rules/2')).status, 404);
});

test('the owner sees the mail programs that are connected, and disconnects one or all of the own mailbox', async () => {
  const { browser, mailbox } = await openMine();
  const { row } = await addAppPassword(testApp, mailbox, { name: 'Old <b>phone' });
  const other = await add();
  const begin = (protocol: MailSession['protocol'], credential: MailSession['credential'], address: string) =>
    beginMailSession({ protocol, credential, address }, clock.now());
  const phone = { ...begin('imap', row.id, '192.0.2.7'), client: 'Thunder<script>bird 140' };
  const sieve = begin('sieve', 'password', '2001:db8::7');
  const foreign = begin('imap', 'password', '192.0.2.9');
  sessions.set(mailbox.id, [phone, sieve]);
  sessions.set(other.id, [foreign]);
  await browser.open('/mailbox/security');
  assert.match(
    browser.page.html,
    /IMAP \(reading\).*Thunder&lt;script>bird 140.*192\.0\.2\.7.*Old &lt;b>phone.*ManageSieve.*has not said.*2001:db8::7.*password of the mailbox/s,
  );
  assert.doesNotMatch(browser.page.html, /192\.0\.2\.9/);
  await browser.submit('disconnect', { session: foreign.id });
  assert.equal(sessions.get(other.id)?.length, 1);
  await browser.submit('disconnect', { session: phone.id });
  assert.match(browser.page.html, /Disconnected\./);
  assert.deepEqual(sessions.get(mailbox.id), [sieve]);
  sessions.set(mailbox.id, [phone, sieve]);
  await browser.open('/mailbox/security');
  await browser.submit('disconnectAll');
  assert.match(browser.page.html, /No mail program is connected/);
  assert.equal(sessions.get(other.id)?.length, 1);
});

test('the owner sees who has sent the newest spam, and chooses whose mail is never spam, or always', async () => {
  const { browser, mailbox } = await openMine();
  junk.set(mailbox.id, {
    folder: 'Werbung',
    senders: [{ address: 'shop@good.example', name: 'The <i>shop', messages: 3, lastAt: clock.now() }],
  });
  await browser.open('/mailbox/spam');
  assert.match(browser.page.html, /shop@good\.example.*The &lt;i>shop.*as the server decides/s);
  await browser.submit('never');
  const rules = async () => (await shown(mailbox)).rules;
  const rule = (address: string, fileInto: string) => ({
    match: 'all',
    conditions: [{ field: 'from', operator: 'is', value: address }],
    fileInto,
    stop: true,
  });
  assert.deepEqual(await rules(), [rule('shop@good.example', 'INBOX')]);
  assert.match(browser.page.html, /<td>never spam<\/td>/);
  await browser.submit('choose', { address: ' Late@Spam.example ', choice: 'always' });
  assert.deepEqual(await rules(), [rule('late@spam.example', 'Werbung'), rule('shop@good.example', 'INBOX')]);
  assert.match(browser.page.html, /Chosen senders.*late@spam\.example/s);
  await browser.submit('choose', { address: 'no address', choice: 'always' });
  assert.match(browser.page.html, /must be one address/);
  await browser.open('/mailbox/spam');
  await browser.submit('clear');
  assert.deepEqual(await rules(), [rule('late@spam.example', 'Werbung')]);
});

test('nothing but the own mailbox is reachable: no other one, no page of the tenant, of a person or of the operator', async () => {
  const { browser } = await openMine();
  const other = await add();
  const { row } = await addAppPassword(testApp, other);
  for (const path of ['/t/default/live', '/t/default/live/emails', '/account', '/operator']) {
    const { status, headers } = await browser.send(path, { method: 'GET' });
    assert.deepEqual([status, String(headers['location']).split('?')[0]], [303, '/login'], path);
  }
  for (const path of [
    `/mailbox/${other.id}`,
    `/mailbox/../v1/mailboxes/${other.id}`,
    `/v1/mailboxes/${other.id}`,
  ]) {
    const { status } = await browser.send(path, { method: 'GET' });
    assert.ok([401, 404].includes(status), `${path} ${status}`);
  }
  await browser.open('/mailbox/app-passwords');
  await browser.submit('createAppPassword', { name: 'Own', currentPassword: PASSWORD });
  const ways = [
    row.id,
    `../../${other.id}/app-passwords/${row.id}`,
    `..%2F..%2F${other.id}%2Fapp-passwords%2F${row.id}`,
    `%2e%2e/%2e%2e/${other.id}/app-passwords/${row.id}`,
    '..',
    '.',
  ];
  for (const id of ways) {
    await browser.open('/mailbox/app-passwords');
    const { status } = await browser.submit('revoke', { id });
    assert.equal(status, 422, id);
  }
  const url = `/v1/mailboxes/${other.id}/app-passwords`;
  const { body } = await testApp.request('GET', url, { key: testApp.liveKey });
  assert.equal(body.data.length, 1);
});

test('fields that only an administrator may change are not changed by what a form sends', async () => {
  const { browser, mailbox } = await openMine();
  await browser.open('/mailbox/forwarding');
  const fields = {
    quotaBytes: '9',
    aliases: 'boss@people.example',
    status: 'active',
    password: 'a new password',
  };
  await browser.submit('set', fields);
  const { quotaBytes, aliases } = await shown(mailbox);
  assert.deepEqual([quotaBytes, aliases], [1_000_000, []]);
  assert.equal((await logInTo(mailbox.address)).page.url, '/mailbox');
});
