/** The owner of a mailbox sets a forgotten password anew, by a link to an address elsewhere. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { noAccounts, type RunningAccounts } from '../../src/accounts/running-accounts.ts';
import { createMailboxRecovery } from '../../src/dashboard/people/mailbox-recovery.ts';
import { textsOf } from '../../src/dashboard/texts/texts.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { updateMailbox } from '../../src/mailboxes/store.ts';
import type { Id } from '../../src/system/ids.ts';
import { resumeTenant, suspendTenant } from '../../src/tenant-control/suspend.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { type Browser, logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const disconnected: string[] = [];
const accounts: RunningAccounts = {
  ...noAccounts,
  async disconnect(id) {
    disconnected.push(id);
    return 1;
  },
};
const testApp: TestApp = await openTestApp({ system: { clock }, accounts });
after(() => testApp.close());
const { app, tenantId } = testApp;
const recovery = createMailboxRecovery({ ...app, accounts });
const NEW_PASSWORD = 'another horse battery';

let passwordHash = '';
before(async () => {
  passwordHash = await hashPassword(PASSWORD, '');
});

let count = 0;
const add = (fields: Partial<MailboxRow> = {}) =>
  addMailbox(testApp, { address: `ann${++count}@people.example`, passwordHash, ...fields });

async function logInTo(address: string, password = PASSWORD): Promise<Browser> {
  const browser = await openBrowser(testApp);
  await browser.open('/mailbox/login');
  await browser.submit('login', { address, password });
  return browser;
}

const isIn = async (browser: Browser) => (await browser.send('/mailbox', { method: 'GET' })).status === 200;

type Mail = { to: string; text: string; link: string };

/** Returns the mail that waits in the queue, the oldest first. */
async function mails(): Promise<Mail[]> {
  const rows = await app.db.read
    .selectFrom('messages')
    .innerJoin('recipients', 'recipients.messageId', 'messages.id')
    .select(['messages.blobId', 'recipients.address', 'messages.id'])
    .orderBy('messages.id')
    .execute();
  return Promise.all(
    rows.map(async ({ blobId, address }) => {
      const bytes = blobId === null ? '' : await textOf(blobId);
      return { to: address, text: bytes, link: /\/mailbox\/link\/[\w-]{43}/.exec(bytes)?.[0] ?? '' };
    }),
  );
}

async function textOf(blobId: Id<'blob'>): Promise<string> {
  const content = await app.blobs.open(blobId);
  const chunks: Buffer[] = [];
  for await (const chunk of content.chunks()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString().replaceAll('=\r\n', '');
}

const lastMail = async () => (await mails()).at(-1) ?? assert.fail('no mail');
const countMails = async () => (await mails()).length;

/** Asks for a link as somebody who has forgotten the password, and returns what the page answers. */
async function ask(address: string): Promise<string> {
  const browser = await openBrowser(testApp);
  await browser.open('/mailbox/forgotten');
  await browser.submit('ask', { address });
  return browser.page.html.replace(/name="_once" value="[^"]*"/g, '');
}

async function setAddress(
  mailbox: MailboxRow,
  address: string,
  currentPassword = PASSWORD,
): Promise<Browser> {
  await clock.advance(1);
  const browser = await logInTo(mailbox.address);
  await browser.open('/mailbox/recovery');
  await browser.submit('set', { address, currentPassword });
  return browser;
}

async function confirm(): Promise<Browser> {
  const browser = await openBrowser(testApp);
  await browser.open((await lastMail()).link);
  await browser.submit('confirm');
  return browser;
}

async function addConfirmed(fields: Partial<MailboxRow> = {}): Promise<MailboxRow> {
  const mailbox = await add(fields);
  await setAddress(mailbox, `private${count}@elsewhere.example`);
  await confirm();
  await clock.advance(3_600_000);
  return mailbox;
}

test('an address is confirmed by a link that works once, and then gets a link for a new password, which works once', async () => {
  const mailbox = await add();
  const browser = await setAddress(mailbox, 'private@elsewhere.example', 'wrong password');
  assert.match(browser.page.html, /The current password is wrong/);
  await browser.submit('set', { address: 'private@elsewhere.example', currentPassword: PASSWORD });
  assert.match(browser.page.html, /private@elsewhere\.example.*waits for your confirmation/s);
  const asked = await lastMail();
  assert.equal(asked.to, 'private@elsewhere.example');
  assert.match(asked.text, /^From: .*postmaster@mx\.postrider\.example/m);
  assert.match(asked.text, /^Auto-Submitted: auto-generated/m);
  assert.match(asked.text, /https:\/\/mx\.postrider\.example\/mailbox\/link\//);

  const before = await countMails();
  const stranger = await openBrowser(testApp);
  await stranger.open(asked.link);
  await stranger.open(asked.link);
  await clock.advance(1);
  await stranger.submit('confirm');
  assert.equal(stranger.page.url, '/mailbox/login?said=recoveryConfirmed');
  const notice = await lastMail();
  assert.equal(
    await countMails(),
    before + 1,
    'an address that is not confirmed gets no link for a password',
  );
  assert.deepEqual([notice.to, notice.link], [mailbox.address, '']);
  await stranger.open(asked.link);
  assert.match(stranger.page.html, /The link does not work any more/);

  const elsewhere = await logInTo(mailbox.address);
  await clock.advance(1);
  await ask(` ${mailbox.address.toUpperCase()} `);
  await waitUntil(async () => (await countMails()) === before + 2);
  const { to, link } = await lastMail();
  assert.equal(to, 'private@elsewhere.example');
  await stranger.open(link);
  await stranger.submit('reset', { password: 'short' });
  assert.match(stranger.page.html, /role="alert"/);
  await clock.advance(1);
  await stranger.submit('reset', { password: NEW_PASSWORD });
  assert.equal(stranger.page.url, '/mailbox/login?said=passwordChanged');
  assert.deepEqual([await isIn(browser), await isIn(elsewhere)], [false, false]);
  assert.deepEqual(disconnected.splice(0), [mailbox.id]);
  const changed = await lastMail();
  assert.equal(changed.to, mailbox.address);
  assert.match(changed.text, /was set anew by a link/);
  assert.equal((await logInTo(mailbox.address)).page.status, 422);
  const owner = await logInTo(mailbox.address, NEW_PASSWORD);
  assert.equal(owner.page.url, '/mailbox');
  const again = await stranger.send(link, { method: 'POST', body: `_action=reset&password=${PASSWORD}123` });
  assert.equal(again.status, 422);
  assert.equal((await logInTo(mailbox.address, NEW_PASSWORD)).page.url, '/mailbox');
  const audit = await app.db.read
    .selectFrom('auditEntries')
    .selectAll()
    .where('mailboxId', '=', mailbox.id)
    .execute();
  const line = audit.find(({ action }) => action.includes('reset'));
  assert.deepEqual([line?.tenantId, line?.target], [tenantId, '']);
  assert.doesNotMatch(JSON.stringify(audit), /elsewhere\.example/);
});

test('a link, what it does and the notice of it are one write, so that nothing ends a process between them', async () => {
  const mailbox = await addConfirmed();
  await ask(mailbox.address);
  await recovery.settled();
  await waitUntil(async () => (await lastMail()).to.endsWith('elsewhere.example'));
  const token = (await lastMail()).link.split('/').at(-1) ?? '';
  const commit = mock.method(app.db, 'commit', async () => {
    throw new Error('the process was killed');
  });
  await assert.rejects(recovery.reset(token, NEW_PASSWORD, textsOf('en').recovery), /killed/);
  commit.mock.restore();
  assert.equal((await recovery.open(token))?.kind, 'reset', 'the link still works');
  const commits = mock.method(app.db, 'commit');
  const before = await countMails();
  await recovery.reset(token, NEW_PASSWORD, textsOf('en').recovery);
  assert.deepEqual([commits.mock.callCount(), (await countMails()) - before], [1, 1]);
  commits.mock.restore();
  assert.equal((await logInTo(mailbox.address, NEW_PASSWORD)).page.url, '/mailbox');
  disconnected.splice(0);
});

test('links end after 30 minutes, and with a newer one', async () => {
  const mailbox = await addConfirmed();
  const links: string[] = [];
  for (let number = 0; number < 2; number++) {
    const before = await countMails();
    await ask(mailbox.address);
    await waitUntil(async () => (await countMails()) > before);
    links.push((await lastMail()).link);
    await clock.advance(1);
  }
  const browser = await openBrowser(testApp);
  await browser.open(links[0] ?? '');
  assert.match(browser.page.html, /The link does not work any more/);
  await browser.open(links[1] ?? '');
  assert.match(browser.page.html, /The new password is for/);
  await clock.advance(30 * 60_000);
  await browser.open(links[1] ?? '');
  assert.match(browser.page.html, /The link does not work any more/);
});

/** Asks for links without a page, and waits for what follows. `from` is the address of the client. */
async function askAll(addresses: readonly string[], from = '192.0.2.1'): Promise<number> {
  const before = await countMails();
  for (const address of addresses) recovery.ask({ address, clientAddress: from }, textsOf('en').recovery);
  await recovery.settled();
  return (await countMails()) - before;
}

test('whoever asks gets the same answer, whether there is such a mailbox, an address, or a limit', async () => {
  const confirmed = await addConfirmed();
  const answers = new Set<string>();
  for (const address of [(await add()).address, 'nobody@people.example', 'NOBODY@other.example'])
    answers.add(await ask(address));
  for (let number = 0; number < 5; number++) answers.add(await ask(confirmed.address));
  assert.equal(answers.size, 1);
  await clock.advance(24 * 3_600_000);
});

test('links go to confirmed addresses alone, three an hour for a mailbox', async () => {
  const confirmed = await addConfirmed();
  const unconfirmed = await add();
  await setAddress(unconfirmed, 'unconfirmed@elsewhere.example');
  assert.equal(await askAll([unconfirmed.address, (await add()).address, 'nobody@people.example', 'x']), 0);
  assert.equal(await askAll(Array.from({ length: 5 }, () => confirmed.address)), 3);
  await clock.advance(20 * 60_000);
  assert.equal(await askAll([confirmed.address, confirmed.address], '198.51.100.1'), 1);
  await clock.advance(24 * 3_600_000);
});

test('a network asks for ten links an hour, and others go on', async () => {
  const mailboxes = [];
  for (let number = 0; number < 12; number++) mailboxes.push((await addConfirmed()).address);
  await clock.advance(24 * 3_600_000);
  assert.equal(await askAll(mailboxes.slice(0, 11)), 10);
  assert.equal(await askAll(mailboxes.slice(11), '192.0.2.1'), 0);
  assert.equal(await askAll(mailboxes.slice(11), '198.51.100.1'), 1);
  await clock.advance(24 * 3_600_000);
});

test('nobody sets a new password where an administrator has forbidden it, of a suspended mailbox or tenant, or without the password', async () => {
  const mailbox = await addConfirmed();
  const before = await countMails();
  await ask(mailbox.address);
  await waitUntil(async () => (await countMails()) > before);
  const { link } = await lastMail();
  const browser = await openBrowser(testApp);
  const works = async () => !(await browser.open(link)).html.includes('does not work any more');
  assert.equal(await works(), true);

  const admin = await logIn(testApp);
  await admin.open(`/t/default/live/mailboxes/${mailbox.id}`);
  await admin.submit('change', { recovery: [] });
  assert.equal(await works(), false);
  const owner = await logInTo(mailbox.address);
  await owner.open('/mailbox/recovery');
  assert.match(owner.page.html, /does not allow it for this mailbox/);
  assert.doesNotMatch(owner.page.html, /name="currentPassword"/);
  const body = `_action=set&address=x@elsewhere.example&currentPassword=${encodeURIComponent(PASSWORD)}`;
  assert.equal((await owner.send('/mailbox/recovery', { method: 'POST', body })).status, 422);
  await admin.submit('change', { recovery: 'on' });
  assert.equal(await works(), true);

  const change = (fields: object) =>
    app.db.commit(updateMailbox, { tenantId, id: mailbox.id, now: clock.now(), change: fields });
  await change({ status: 'suspended' });
  assert.equal(await works(), false);
  await change({ status: 'active' });
  await change({ passwordLogin: 0 });
  assert.equal(await works(), false);
  await change({ passwordLogin: 1 });
  await app.db.commit(suspendTenant, { tenant: tenantId });
  assert.equal(await works(), false);
  await app.db.commit(resumeTenant, { tenant: tenantId, now: clock.now() });
  assert.equal(await works(), true);
});

test('an address of the mailbox itself and a text that is none are refused; another one needs to be confirmed again; a removed one gets nothing', async () => {
  const mailbox = await addMailbox(testApp, {
    address: `ann${++count}@people.example`,
    passwordHash,
    aliases: ['alias@people.example'],
  });
  for (const address of [
    mailbox.address,
    'Alias@people.example',
    'no address',
    'Ann <ann@elsewhere.example>',
  ]) {
    const browser = await setAddress(mailbox, address);
    assert.equal(browser.page.status, 422, address);
  }
  await setAddress(mailbox, 'first@elsewhere.example');
  await confirm();
  const browser = await setAddress(mailbox, 'second@elsewhere.example');
  assert.match(browser.page.html, /second@elsewhere\.example.*waits for your confirmation/s);
  await clock.advance(24 * 3_600_000);
  assert.equal(await askAll([mailbox.address]), 0);
  await browser.open('/mailbox/recovery');
  await browser.submit('remove');
  assert.match(browser.page.html, /No recovery address is set/);
  assert.equal(await askAll([mailbox.address]), 0);
});

test('a mailbox of the sandbox, which sends nothing to the world, has no recovery', async () => {
  const mailbox = await add({
    address: 'ann@sandbox.mx.postrider.example',
    domain: 'sandbox.mx.postrider.example',
  });
  const browser = await logInTo(mailbox.address);
  await browser.open('/mailbox/recovery');
  assert.match(browser.page.html, /does not allow it for this mailbox/);
});

test('an administrator of the tenant sees the address and removes it, and a viewer does neither', async () => {
  const mailbox = await addConfirmed();
  const page = `/t/default/live/mailboxes/${mailbox.id}`;
  const viewer = await logIn(testApp, { role: 'viewer' });
  assert.doesNotMatch((await viewer.open(page)).html, /elsewhere\.example/);
  const admin = await logIn(testApp, { role: 'admin' });
  assert.match((await admin.open(page)).html, /elsewhere\.example.*confirmed/s);
  await admin.submit('removeRecovery');
  assert.equal(admin.page.url, `${page}?said=deleted`);
  assert.match(admin.page.html, /No recovery address is set/);
  const mailed = await countMails();
  await ask(mailbox.address);
  await recovery.settled();
  assert.equal(await countMails(), mailed, 'nobody gets a link any more');
});
