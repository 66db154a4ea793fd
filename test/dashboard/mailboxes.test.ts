/** The mailboxes of a tenant, as its administrators make and change them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addMailbox, addMailboxDomain } from '../mailboxes/fixtures.ts';
import { logIn, openBrowser, PASSWORD } from '../support/browser.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const testApp: TestApp = await openTestApp();
after(() => testApp.close());

const LIST = '/t/default/live/mailboxes';
const admin = await logIn(testApp, { role: 'admin' });
await addMailboxDomain(testApp, 'people.example');

const shown = async (id: string) =>
  (await testApp.request('GET', `/v1/mailboxes/${id}`, { key: testApp.liveKey })).body;

test('an administrator makes a mailbox whose password is shown once, and with which its owner logs in', async () => {
  await admin.open(LIST);
  assert.match(admin.page.html, /No mailboxes yet/);
  await admin.submit('create', { address: 'new@people.example', displayName: 'Nele', quotaMegabytes: '5' });
  const [, password = ''] = /new@people\.example.*?data-copy="([^"]+)"/s.exec(admin.page.html) ?? [];
  assert.match(admin.page.html, /Settings for mail programs/);
  await admin.open(LIST);
  assert.doesNotMatch(admin.page.html, new RegExp(password));
  assert.match(admin.page.html, /new@people\.example.*Nele.*5\.24 MB/s);
  const owner = await openBrowser(testApp);
  await owner.open('/mailbox/login');
  await owner.submit('login', { address: 'new@people.example', password });
  assert.equal(owner.page.url, '/mailbox');
});

test('a password that the administrator chooses is not shown, and a refused form keeps what was entered', async () => {
  await admin.open(LIST);
  await admin.submit('create', { address: 'two@elsewhere.example', password: PASSWORD });
  assert.equal(admin.page.status, 422);
  assert.match(admin.page.html, /<details open.*value="two@elsewhere\.example".*role="alert"/s);
  await admin.submit('create', { address: 'two@people.example', password: PASSWORD });
  assert.match(admin.page.url, /^\/t\/default\/live\/mailboxes\/mbx_\w+\?said=created$/);
  assert.doesNotMatch(admin.page.html, new RegExp(PASSWORD));
});

test('the page of a mailbox changes its addresses, its quota, its members, its state and its password', async () => {
  const member = await addMailbox(testApp, { address: 'member@people.example' });
  await admin.open(LIST);
  await admin.submit('create', { address: 'team@people.example', kind: 'shared', members: member.address });
  const [, id = ''] = /(mbx_\w+)/.exec(admin.page.url) ?? [];
  await admin.submit('change', {
    aliases: 'info@people.example\r\n',
    quotaMegabytes: '7',
    displayName: 'Team',
  });
  const { aliases, quotaBytes, members, displayName } = await shown(id);
  assert.deepEqual(
    { aliases, quotaBytes, members, displayName },
    {
      aliases: ['info@people.example'],
      quotaBytes: 7 * 1024 * 1024,
      members: ['member@people.example'],
      displayName: 'Team',
    },
  );
  await admin.submit('createAppPassword', { name: 'Desk' });
  assert.match(admin.page.html, /is not shown again/);
  await admin.open(`${LIST}/${id}`);
  assert.match(admin.page.html, /Desk/);
  await admin.submit('revoke');
  assert.match(admin.page.html, /No app passwords yet/);
  await admin.submit('suspend');
  assert.equal((await shown(id)).status, 'suspended');
  await admin.submit('resume');
  assert.equal((await shown(id)).status, 'active');
  await admin.submit('delete');
  assert.equal(admin.page.url, `${LIST}?said=deleted`);
  await admin.open(`${LIST}/${member.id}`);
  await admin.submit('password', { password: 'a chosen password' });
  const owner = await openBrowser(testApp);
  await owner.open('/mailbox/login');
  await owner.submit('login', { address: member.address, password: 'a chosen password' });
  assert.equal(owner.page.url, '/mailbox');
});

test('imports show their progress, hide the password, and are deleted', async () => {
  const { id } = await addMailbox(testApp, { address: 'import@people.example' });
  await admin.open(`${LIST}/${id}/imports`);
  const source = { host: 'imap.old.example', user: 'old@old.example', password: 'the old password' };
  await admin.submit('create', source);
  assert.match(admin.page.html, /The import has begun.*old@old\.example \(imap\.old\.example\).*waiting/s);
  assert.doesNotMatch(admin.page.html, /the old password/);
  assert.ok(
    admin.page.html.includes(`data-topic="${LIST.replace(/\/mailboxes$/, '')}/work/mailboxes/${id}/imports"`),
  );
  const [, importId = ''] = /value="(mim_\w+)"/.exec(admin.page.html) ?? [];
  const { headers, html } = await admin.send(`${LIST}/${id}/imports/${importId}/errors`, { method: 'GET' });
  assert.match(String(headers['content-disposition']), /^attachment; /);
  assert.equal(html, 'folder,uid,error\r\n');
  await admin.submit('delete');
  assert.match(admin.page.html, /No imports yet/);
});

test('a viewer sees mailboxes and no forms, and pages of other tenants are not found', async () => {
  const { id } = await addMailbox(testApp, { address: 'seen@people.example' });
  const viewer = await logIn(testApp, { role: 'viewer' });
  for (const path of [LIST, `${LIST}/${id}`, `${LIST}/${id}/imports`]) {
    await viewer.open(path);
    assert.equal(viewer.page.status, 200);
    assert.match(viewer.page.html, /seen@people\.example/);
    assert.doesNotMatch(viewer.page.html, /name="_once"/, path);
  }
  const { tenantId } = await testApp.addTenant('stranger');
  const stranger = await logIn(testApp, { tenantId });
  for (const path of [`/${id}`, `/${id}/imports`])
    assert.equal((await stranger.open(`/t/stranger/live/mailboxes${path}`)).status, 404);
});

test('names of strangers are text, and test mode changes the sandbox alone', async () => {
  const { id } = await addMailbox(testApp, {
    address: 'x@people.example',
    displayName: '<script>alert(1)</script>',
  });
  await admin.open(`${LIST}/${id}`);
  assert.match(admin.page.html, /&lt;script>alert\(1\)/);
  assert.doesNotMatch(admin.page.html, /<script>alert/);
  await admin.open(`/t/default/test/mailboxes/${id}`);
  await admin.submit('suspend');
  assert.equal(admin.page.status, 403);
  assert.equal((await shown(id)).status, 'active');
});
