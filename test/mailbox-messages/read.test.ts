/** Messages of a mailbox as programs read them over HTTP, beside sessions of IMAP. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { noAccounts } from '../../src/accounts/running-accounts.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { revokeMailboxKey } from '../../src/mailboxes/api-keys/create.ts';
import { deleteMailbox } from '../../src/mailboxes/delete.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { addMailboxDomain } from '../mailboxes/fixtures.ts';
import { append, openWorld, type World } from './world.ts';

/** Fields of a message or a thread that the tests read. */
type Shown = {
  subject: string;
  messageCount: number;
  unreadCount: number;
  folder: { role: string };
};

let world: World;
let ann: MailboxRow;
let key: string;
let path: string;

const list = async (query = '', token = key) =>
  (await world.ask(token, 'GET', `${path}/messages${query}`)).body;
const subjects = async (query = ''): Promise<string[]> =>
  (await list(query)).data.map(({ subject }: { subject: string }) => subject);

const WITH_FILE = [
  'From: =?utf-8?q?J=C3=BCrgen?= <jo@test.example>',
  'To: ann@sandbox.mx.people.example',
  'Subject: A file',
  'Message-ID: <file@test.example>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/html',
  '',
  '<p>See <script>alert(1)</script>it</p>',
  '--b',
  'Content-Type: application/pdf',
  'Content-Disposition: attachment; filename="../../etc/passwd.html"',
  'Content-Transfer-Encoding: base64',
  '',
  'aGVsbG8=',
  '--b--',
  '',
].join('\n');

const plain = (subject: string, id: string, more = '') =>
  `From: Bob <bob@test.example>\nSubject: ${subject}\nMessage-ID: <${id}@test.example>\n${more}\nText of ${id}\n`;

before(async () => {
  world = await openWorld();
  ann = await world.addMailbox('ann');
  key = (await world.addKey(ann, 'read')).token;
  path = `/mailboxes/${ann.id}`;
  await world.imap(
    'ann',
    append('INBOX', plain('Plan', '1')),
    append('INBOX', plain('Other', '2'), '\\Seen \\Flagged $Label'),
    append('INBOX', plain('Re: Plan', '3', 'References: <1@test.example>\n')),
    append('Sent', plain('Re: Plan', '4', 'In-Reply-To: <3@test.example>\n'), '\\Seen'),
    append('INBOX', WITH_FILE),
  );
});
after(() => world.close());

test('lists messages of a folder, the newest first, in pages', async () => {
  const first = await list('?limit=3');
  assert.deepEqual(
    first.data.map(({ subject }: { subject: string }) => subject),
    ['A file', 'Re: Plan', 'Other'],
  );
  assert.equal(first.hasMore, true);
  const second = await list(`?limit=3&startingAfter=${first.nextCursor}`);
  assert.deepEqual([second.data[0].subject, second.hasMore, second.nextCursor], ['Plan', false, null]);
  const [file, , other] = first.data;
  assert.deepEqual(file.from, ['Jürgen <jo@test.example>']);
  assert.deepEqual(
    [other.unread, other.flagged, other.answered, other.draft, other.keywords, other.folder.role],
    [false, true, false, false, ['$Label'], 'inbox'],
  );
  const wrong = await world.ask(key, 'GET', `${path}/messages?folder=sent&startingAfter=${first.nextCursor}`);
  assert.deepEqual([wrong.status, wrong.body.error.param], [400, 'startingAfter']);
});

test('finds messages by folder, flags, fields, text and time', async () => {
  assert.deepEqual(await subjects('?folder=sent'), ['Re: Plan']);
  assert.deepEqual(await subjects('?folder=Drafts'), []);
  assert.deepEqual(await subjects('?unread=false'), ['Other']);
  assert.deepEqual(await subjects('?flagged=true'), ['Other']);
  assert.deepEqual(await subjects(`?from=${encodeURIComponent('JÜRGEN')}`), ['A file']);
  assert.deepEqual(await subjects('?to=sandbox&subject=file'), ['A file']);
  assert.deepEqual(await subjects('?subject=plan'), ['Re: Plan', 'Plan']);
  assert.deepEqual(await subjects('?q=text%20of%202'), ['Other']);
  assert.deepEqual(await subjects('?receivedBefore=2001-01-01T00:00:00Z'), []);
  assert.equal((await subjects('?receivedAfter=2001-01-01T00:00:00Z')).length, 4);
  assert.equal((await world.ask(key, 'GET', `${path}/messages?folder=none`)).status, 404);
  const { data } = (await world.ask(key, 'GET', `${path}/folders`)).body;
  const inbox = data.find(({ role }: { role: string }) => role === 'inbox');
  assert.deepEqual([inbox.name, inbox.messageCount, inbox.unreadCount], ['INBOX', 4, 3]);
  assert.deepEqual(await subjects(`?folder=${inbox.id}&unread=false`), ['Other']);
});

test('returns a message with its texts as data, and its files to be saved', async () => {
  const [{ id }] = (await list('?subject=file')).data;
  const { status, headers, body } = await world.ask(key, 'GET', `${path}/messages/${id}`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  assert.match(body.html, /<script>alert\(1\)<\/script>/);
  assert.equal(body.text.trim(), 'See it');
  assert.deepEqual(body.attachments, [
    {
      ...{ id: '1', filename: 'passwd.html', contentType: 'application/pdf', size: 5 },
      ...{ contentId: null, disposition: 'attachment' },
    },
  ]);
  assert.equal(body.unread, true);
  const file = await world.ask(key, 'GET', `${path}/messages/${id}/attachments/1`);
  assert.equal(file.bytes.toString(), 'hello');
  assert.equal(file.headers.get('content-type'), 'application/octet-stream');
  assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="passwd\.html"/);
  assert.equal(file.headers.get('x-content-type-options'), 'nosniff');
  assert.match(file.headers.get('content-security-policy') ?? '', /sandbox/);
  const raw = await world.ask(key, 'GET', `${path}/messages/${id}/raw`);
  assert.equal(raw.bytes.toString(), WITH_FILE.replaceAll('\n', '\r\n'));
  assert.match(raw.headers.get('content-disposition') ?? '', /^attachment/);
  for (const wrong of ['attachments/2', 'attachments/..', 'attachments/0'])
    assert.equal((await world.ask(key, 'GET', `${path}/messages/${id}/${wrong}`)).status, 404, wrong);
  for (const wrong of ['M00000000000000000', '%2e%2e%2fx', 'x'.repeat(300)])
    assert.equal((await world.ask(key, 'GET', `${path}/messages/${wrong}`)).status, 404, wrong);
  // Reading changes nothing for mail programs.
  const fetched = await (await world.imap('ann', 'EXAMINE INBOX')).ask('SEARCH UNSEEN');
  assert.match(fetched.join('\n'), /^\* SEARCH 1 3 4/m);
});

test('groups messages into threads, with those that were sent', async () => {
  const { body } = await world.ask(key, 'GET', `${path}/threads`);
  const shown = body.data.map((one: Shown) => [one.subject, one.messageCount, one.unreadCount]);
  assert.deepEqual(shown, [
    ['A file', 1, 1],
    ['Plan', 3, 2],
    ['Other', 1, 0],
  ]);
  const page = (await world.ask(key, 'GET', `${path}/threads?limit=1`)).body;
  const next = (await world.ask(key, 'GET', `${path}/threads?limit=1&startingAfter=${page.nextCursor}`)).body;
  assert.equal(next.data[0].subject, 'Plan');
  const last = (await list('?subject=re:')).data[0];
  const thread = (await world.ask(key, 'GET', `${path}/threads/${last.id}`)).body;
  assert.deepEqual(
    thread.messages.map((one: Shown) => [one.subject, one.folder.role]),
    [
      ['Plan', 'inbox'],
      ['Re: Plan', 'inbox'],
      ['Re: Plan', 'sent'],
    ],
  );
  assert.equal(thread.id, next.data[0].id);
});

test('a large message is read in pieces, and one that is removed meanwhile is not found', async () => {
  const line = `${'y'.repeat(70)}\n`;
  const large = `From: a@test.example\nSubject: Large\n\n${line.repeat(50_000)}`;
  const client = await world.imap('ann', append('INBOX', large), 'SELECT INBOX');
  const [{ id, size }] = (await list('?limit=1')).data;
  const raw = await world.ask(key, 'GET', `${path}/messages/${id}/raw`);
  assert.equal(raw.bytes.length, size);
  assert.equal(raw.bytes.toString(), large.replaceAll('\n', '\r\n'));
  const { body } = await world.ask(key, 'GET', `${path}/messages/${id}`);
  assert.equal(body.truncated, true);
  assert.ok(body.text.length <= 1024 * 1024);
  for (const command of ['STORE 5 +FLAGS (\\Deleted)', 'EXPUNGE']) await client.ask(command);
  for (const end of ['', '/raw', '/attachments/1'])
    assert.equal((await world.ask(key, 'GET', `${path}/messages/${id}${end}`)).status, 404);
});

test('mail is private: other keys, other mailboxes, and this key elsewhere', async () => {
  const ben = await world.addMailbox('ben');
  const { token: ofBen } = await world.addKey(ben);
  const { token: readOnly } = await createApiKey(world.daemon.app, {
    ...{ tenantId: world.tenantId, name: 'r', mode: 'live', permission: 'read_only', expiresAt: null },
  });
  const [{ id }] = (await list('?limit=1')).data;
  const paths = [
    '/folders',
    '/messages',
    `/messages/${id}`,
    `/messages/${id}/raw`,
    '/threads',
    `/threads/${id}`,
  ];
  for (const one of [...paths, `/messages/${id}/attachments/1`]) {
    for (const other of [world.tenantKey, readOnly])
      assert.equal((await world.ask(other, 'GET', path + one)).status, 403, one);
    assert.equal((await world.ask(ofBen, 'GET', path + one)).status, 404, one);
    assert.equal((await world.ask('svc_dev_nothing', 'GET', path + one)).status, 401, one);
  }
  assert.equal((await world.ask(ofBen, 'GET', `/mailboxes/${ben.id}/messages/${id}`)).status, 404);
  for (const one of ['/emails', '/mailboxes', path, '/plan', '/api-keys', '/inbound/messages', '/contacts'])
    assert.notEqual((await world.ask(key, 'GET', one)).status, 200, one);
  const send = { from: `ann@sandbox.mx.people.example`, to: ['a@b.example'], subject: 'x', text: 'y' };
  const emails = await world.ask(ofBen, 'POST', '/emails', { ...send, type: 'transactional' });
  assert.equal(emails.body.error.type, 'restricted_api_key');
});

test('a key ends with its revocation, its suspension, and its mailbox', async () => {
  const eve = await world.addMailbox('eve');
  const [one, other] = [await world.addKey(eve), await world.addKey(eve)];
  const read = async (token: string) =>
    (await world.ask(token, 'GET', `/mailboxes/${eve.id}/folders`)).status;
  assert.deepEqual([await read(one.token), await read(other.token)], [200, 200]);
  await revokeMailboxKey(world.daemon.app, eve.id, one.id);
  assert.deepEqual([await read(one.token), await read(other.token)], [401, 200]);
  const suspend = (status: string) => world.ask(world.tenantKey, 'PATCH', `/mailboxes/${eve.id}`, { status });
  await suspend('suspended');
  assert.equal(await read(other.token), 403);
  await suspend('active');
  assert.equal(await read(other.token), 200);
  assert.equal((await world.ask(other.token, 'DELETE', `/api-keys/${other.id}`)).status, 204);
  const third = await world.addKey(eve);
  assert.equal(await read(third.token), 200);
  await deleteMailbox({ ...world.daemon.app, accounts: noAccounts }, world.tenantId, eve.id);
  assert.equal(await read(third.token), 401);
});

test('a key of a mailbox does not send by SMTP, and a test key ends when its mailbox leaves the sandbox domain', async () => {
  const dan = await world.addMailbox('dan');
  const { token } = await world.addKey(dan);
  const read = async () => (await world.ask(token, 'GET', `/mailboxes/${dan.id}/folders`)).status;
  assert.equal(await read(), 200);
  const [host, port] = world.daemon.submissionAddress.split(':');
  const auth = { user: dan.address, pass: token };
  const transport = createTransport({ host, port: Number(port), auth, tls: { rejectUnauthorized: false } });
  await assert.rejects(transport.verify(), /535/);
  transport.close();
  const { app } = world.daemon;
  await addMailboxDomain({ app, tenantId: world.tenantId }, 'people.example');
  const body = { aliases: ['dan@people.example'] };
  assert.equal((await world.ask(world.tenantKey, 'PATCH', `/mailboxes/${dan.id}`, body)).status, 200);
  assert.equal(await read(), 403);
  const live = await world.addKey(dan);
  assert.match(live.token, /^svc_prd_/);
  assert.equal((await world.ask(live.token, 'GET', `/mailboxes/${dan.id}/folders`)).status, 200);
});
