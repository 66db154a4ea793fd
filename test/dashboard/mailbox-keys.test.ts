/** The API keys that the owner of a mailbox makes for its messages, in My mailbox. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { createMailboxKey } from '../../src/mailboxes/api-keys/create.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { listKeysOfMailbox } from '../../src/tenants/mailbox-keys-store.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { type Browser, openBrowser, PASSWORD } from '../support/browser.ts';
import { openTestApp } from '../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const { app, tenantId } = testApp;

let passwordHash = '';
before(async () => {
  passwordHash = await hashPassword(PASSWORD, '');
});

async function openMine(address: string): Promise<{ mailbox: MailboxRow; browser: Browser }> {
  const mailbox = await addMailbox(testApp, { address, passwordHash });
  const browser = await openBrowser(testApp);
  await browser.open('/mailbox/login');
  await browser.submit('login', { address, password: PASSWORD });
  await browser.open('/mailbox/api-keys');
  return { mailbox, browser };
}

const keysOf = ({ id }: MailboxRow) => listKeysOfMailbox(app.db.read, id);

test('the owner makes a key with the present password, sees it once, and revokes it', async () => {
  const { mailbox, browser } = await openMine('own@people.example');
  const wanted = { name: 'Assistant', access: 'drafts', expires: '2100-01-31' };
  await browser.submit('createKey', { ...wanted, currentPassword: 'wrong password' });
  assert.deepEqual(await keysOf(mailbox), []);
  await browser.submit('createKey', { ...wanted, currentPassword: PASSWORD });
  const token = /svc_prd_\w{40}/.exec(browser.page.html)?.[0] ?? assert.fail(browser.page.html);
  const [key] = await keysOf(mailbox);
  assert.deepEqual(
    [key?.mailboxId, key?.memberId, key?.mode, key?.permission, key?.requiresApproval],
    [mailbox.id, null, 'live', 'full_access', 'broadcasts_and_emails'],
  );
  assert.equal((await testApp.request('GET', '/v1/emails', { key: token })).status, 403);
  await browser.open('/mailbox/api-keys');
  assert.match(browser.page.html, /Assistant/);
  assert.ok(!browser.page.html.includes(token));
  await browser.submit('revoke', { id: key?.id ?? '' });
  assert.deepEqual(await keysOf(mailbox), []);
  const path = `/v1/mailboxes/${mailbox.id}/folders`;
  assert.equal((await testApp.request('GET', path, { key: token })).status, 401);
  const rows = await app.db.read.selectFrom('auditEntries').selectAll().execute();
  const lines = rows.map(({ action, outcome }) => `${action} ${outcome}`);
  assert.ok(
    lines.some((line) => line.includes('api-keys createKey')),
    lines.join(),
  );
  assert.ok(!JSON.stringify(rows).includes(PASSWORD));
});

test('an owner neither sees nor revokes the key of another mailbox', async () => {
  const { mailbox, browser } = await openMine('one@people.example');
  const other = await addMailbox(testApp, { address: 'two@people.example' });
  const wanted = { name: 'Private', access: 'read' } as const;
  const { key } = await createMailboxKey(app, tenantId, { mailboxId: other.id, wanted });
  await createMailboxKey(app, tenantId, { mailboxId: mailbox.id, wanted: { name: 'Mine', access: 'read' } });
  await browser.open('/mailbox/api-keys');
  assert.match(browser.page.html, /Mine/);
  assert.doesNotMatch(browser.page.html, /Private/);
  await browser.submit('revoke', { id: key.id });
  assert.equal((await keysOf(other)).length, 1);
});

test('the tenant sees that a key of a mailbox exists, may revoke it, and cannot change or make one', async () => {
  const mailbox = await addMailbox(testApp, { address: `keys@${SANDBOX}` });
  const wanted = { name: 'Bot', access: 'drafts' } as const;
  const { key } = await createMailboxKey(app, tenantId, { mailboxId: mailbox.id, wanted });
  assert.equal(key.mode, 'test');
  const shown = await testApp.request('GET', `/v1/api-keys/${key.id}`);
  assert.deepEqual([shown.status, shown.body.mailboxId], [200, mailbox.id]);
  const body = { requiresApproval: null };
  assert.equal((await testApp.request('PATCH', `/v1/api-keys/${key.id}`, { body })).status, 409);
  const asked = { name: 'x', permission: 'full_access', mailboxId: mailbox.id };
  const made = await testApp.request('POST', '/v1/api-keys', { body: asked });
  assert.equal(made.body.mailboxId ?? null, null);
  assert.equal((await testApp.request('DELETE', `/v1/api-keys/${key.id}`)).status, 204);
  assert.deepEqual(await keysOf(mailbox), []);
});

test('a key of a shared mailbox is for a member, and ends with the membership; a mailbox has at most 20', async () => {
  const shared = await addMailbox(testApp, { address: 'team@people.example', kind: 'shared' });
  const member = await addMailbox(testApp, { address: 'member@people.example' });
  const wanted = { name: 'Bot', access: 'read', member: member.address } as const;
  const create = () => createMailboxKey(app, tenantId, { mailboxId: shared.id, wanted });
  await assert.rejects(create(), /is not a member/);
  const setMembers = (members: readonly string[]) =>
    testApp.request('PATCH', `/v1/mailboxes/${shared.id}`, { key: testApp.liveKey, body: { members } });
  assert.equal((await setMembers([member.address])).status, 200);
  for (let made = 0; made < 20; made++) await create();
  await assert.rejects(create(), /maximum/);
  assert.equal((await keysOf(shared)).length, 20);
  assert.equal((await setMembers([])).status, 200);
  assert.deepEqual(await keysOf(shared), []);
});
