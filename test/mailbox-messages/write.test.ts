/** What programs change in a mailbox over HTTP, as sessions of IMAP see it, and the mail that they send. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { waitUntil } from '../support/wait-until.ts';
import { append, DOMAIN, openWorld, type World } from './world.ts';

let world: World;
let ann: MailboxRow;
let ben: MailboxRow;
let key: string;
let path: string;

const ask = (method: string, end: string, body?: object, headers?: Record<string, string>) =>
  world.ask(key, method, path + end, body, headers);
const newest = async (folder: string) =>
  (await ask('GET', `/messages?folder=${folder}&limit=1`)).body.data[0];
const search = async (folder: string, what: string) =>
  (await (await world.imap('ann', `EXAMINE ${folder}`)).ask(`SEARCH ${what}`)).find((line) =>
    line.startsWith('* SEARCH'),
  );

before(async () => {
  world = await openWorld();
  ann = await world.addMailbox('ann');
  ben = await world.addMailbox('ben');
  key = (await world.addKey(ann)).token;
  path = `/mailboxes/${ann.id}`;
});
after(() => world.close());

async function deliver(subject: string, more = '', text = 'Hello\nAnn'): Promise<string> {
  const header = `From: Ben <ben@${DOMAIN}>\nTo: ann@${DOMAIN}, Cay <cay@test.example>\nSubject: ${subject}\n`;
  const message = `${header}Message-ID: <${subject.length}.${subject.replace(/\W/g, '')}@test.example>\n${more}\n${text}\n`;
  await world.imap('ann', append('INBOX', message));
  return (await newest('inbox')).id;
}

test('marks and moves are seen by mail programs, and repeating them changes nothing', async () => {
  const id = await deliver('Marks');
  const idle = await world.imap('ann', 'SELECT INBOX');
  await idle.ask('IDLE');
  for (let times = 0; times < 2; times++) {
    const { status, body } = await ask('PATCH', `/messages/${id}`, { unread: false, flagged: true });
    assert.deepEqual([status, body.unread, body.flagged, body.folder.role], [200, false, true, 'inbox']);
  }
  assert.match(await idle.line(), /^\* 1 FETCH \(.*FLAGS \(\\Seen \\Flagged/);
  assert.match((await search('INBOX', 'SEEN FLAGGED')) ?? '', /SEARCH 1/);
  for (let times = 0; times < 2; times++) {
    const { body } = await ask('PATCH', `/messages/${id}`, { folder: 'archive', unread: true });
    assert.deepEqual([body.id, body.folder.role, body.unread], [id, 'archive', true]);
  }
  assert.match((await search('Archive', 'UNSEEN')) ?? '', /SEARCH 1/);
  assert.equal((await ask('GET', '/messages')).body.data.length, 0);
  assert.equal((await ask('PATCH', `/messages/${id}`, { folder: 'nowhere' })).status, 404);
  assert.equal((await ask('PATCH', '/messages/M0', { unread: true })).status, 404);
});

test('a reply is a draft that mail programs see, and is sent once with all that belongs to it', async () => {
  const id = await deliver('Question', 'References: <0@test.example>\n');
  const made = await ask('POST', '/drafts', { inReplyTo: id, text: 'Yes.', replyAll: true });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id: draft, messageId } = made.body;
  assert.deepEqual(
    [made.body.to, made.body.cc, made.body.subject, made.body.draft, made.body.folder.role],
    [[`Ben <ben@${DOMAIN}>`], ['Cay <cay@test.example>'], 'Re: Question', true, 'drafts'],
  );
  assert.match((await search('Drafts', 'DRAFT SEEN')) ?? '', /SEARCH 1/);
  const shown = (await ask('GET', `/messages/${draft}`)).body;
  assert.match(shown.text, /^Yes\.\n\nBen <ben@.*> wrote:\n> Hello\n> Ann\n$/);
  const header = (name: string) => shown.rawHeaders.find((one: { name: string }) => one.name === name)?.value;
  assert.match(header('In-Reply-To'), /^<8\.Question@test\.example>$/);
  assert.equal(header('References'), '<0@test.example> <8.Question@test.example>');
  // Addresses of the sandbox write to each other alone.
  const refused = await ask('POST', `/drafts/${draft}/send`);
  assert.deepEqual([refused.status, refused.body.error.type], [422, 'domain_not_verified']);
  assert.equal((await newest('drafts')).id, draft);
  const other = (
    await ask('POST', '/drafts', { inReplyTo: id, html: '<p>Yes &amp; no</p>', bcc: [`ann@${DOMAIN}`] })
  ).body;
  const answers = await Promise.all([1, 2, 3].map(() => ask('POST', `/drafts/${other.id}/send`)));
  for (const { status, body } of [...answers, await ask('POST', `/drafts/${other.id}/send`)])
    assert.deepEqual([status, body.id, body.draft, body.folder.role], [200, other.id, false, 'sent']);
  assert.match((await search('Sent', 'SEEN UNDRAFT')) ?? '', /SEARCH 1$/);
  assert.match((await search('INBOX', 'ANSWERED')) ?? '', /SEARCH 1$/);
  const ofBen = await world.imap('ben', 'SELECT INBOX');
  await waitUntil(async () => (await ofBen.ask('SEARCH ALL')).some((line) => line === '* SEARCH 1'));
  const arrived = (await ofBen.ask('FETCH 1 (BODY.PEEK[])')).join('\n');
  assert.match(arrived, new RegExp(`Message-ID: <${other.messageId.slice(1, -1)}>`));
  assert.notEqual(other.messageId, messageId);
  assert.doesNotMatch(arrived, /^Bcc:/m);
  assert.match(arrived, /with HTTP/);
  // The blind copy arrived once, and the sent copy names it.
  await waitUntil(async () => (await ask('GET', '/messages?from=ann@')).body.data.length > 0);
  assert.equal((await ask('GET', '/messages?from=ann@')).body.data.length, 1);
  assert.deepEqual(await ofBen.ask('SEARCH ALL').then((lines) => lines[0]), '* SEARCH 1');
  // It is a draft still when the filing was interrupted, and is filed then, not sent again.
  await world.imap('ann', 'SELECT Sent', 'STORE 1 +FLAGS (\\Draft)');
  const again = await ask('POST', `/drafts/${other.id}/send`);
  assert.deepEqual([again.status, again.body.draft], [200, false]);
  await ofBen.ask('NOOP');
  assert.deepEqual((await ofBen.ask('SEARCH ALL'))[0], '* SEARCH 1');
  const sent = (await ask('GET', `/messages/${other.id}`)).body;
  assert.ok(sent.rawHeaders.some((one: { name: string }) => one.name === 'Bcc'));
});

test('a message is forwarded with its text and files, or whole', async () => {
  const id = await deliver(
    'Files',
    'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n',
    '--b\n\nLook\n--b\nContent-Type: application/pdf; name="a.pdf"\nContent-Disposition: attachment\nContent-Transfer-Encoding: base64\n\naGVsbG8=\n--b--',
  );
  const to = [`ben@${DOMAIN}`];
  const inline = (await ask('POST', '/drafts', { forwards: id, to, text: 'See below' })).body;
  const shown = (await ask('GET', `/messages/${inline.id}`)).body;
  assert.equal(shown.subject, 'Fwd: Files');
  assert.match(
    shown.text,
    /^See below\n\n-+ Forwarded message -+\nFrom: Ben[\s\S]*Subject: Files[\s\S]*Look/,
  );
  assert.deepEqual(
    shown.attachments.map((one: { filename: string }) => one.filename),
    ['a.pdf'],
  );
  assert.equal((await ask('GET', `/messages/${inline.id}/attachments/1`)).bytes.toString(), 'hello');
  const whole = (await ask('POST', '/drafts', { forwards: id, to, forwardAs: 'attachment' })).body;
  const attached = (await ask('GET', `/messages/${whole.id}`)).body.attachments;
  assert.deepEqual([attached.length, attached[0].contentType], [1, 'message/rfc822']);
  assert.equal((await ask('POST', `/drafts/${whole.id}/send`)).status, 200);
  assert.match((await search('INBOX', 'KEYWORD $Forwarded')) ?? '', /SEARCH \d+$/);
});

test('a key writes a draft once, and what would break a message is refused', async () => {
  const once = { 'idempotency-key': 'one' };
  const first = await ask('POST', '/drafts', { subject: 'Once', text: 'a' }, once);
  const second = await ask('POST', '/drafts', { subject: 'Once', text: 'a' }, once);
  assert.deepEqual([first.status, second.body.id], [201, first.body.id]);
  assert.equal((await ask('GET', '/messages?folder=drafts&subject=once')).body.data.length, 1);
  // Another draft with the key would be taken for the first one, which may have been sent.
  const other = await ask('POST', '/drafts', { subject: 'Once', text: 'b' }, once);
  assert.deepEqual([other.status, other.body.error?.type], [409, 'idempotency_conflict']);
  const { status, body } = await ask(
    'POST',
    '/drafts',
    { from: 'a@b.example', text: 'c' },
    { 'idempotency-key': 'two' },
  );
  assert.deepEqual([status, body.error.param], [400, 'from']);
  assert.equal((await ask('POST', '/drafts', { text: 'c' }, { 'idempotency-key': 'two' })).status, 201);
  const param = async (body: object) => (await ask('POST', '/drafts', body)).body.error?.param;
  assert.equal(await param({ subject: 'a\r\nBcc: x@y.example' }), 'subject');
  assert.equal(await param({ to: ['a@b.example\r\nBcc: x@y.example'] }), 'to[0]');
  assert.equal(await param({ from: `ben@${DOMAIN}` }), 'from');
  assert.equal(await param({ from: 'Ann <ann@elsewhere.example>' }), 'from');
  assert.equal(await param({ inReplyTo: 'M0' }), 'inReplyTo');
  assert.equal(await param({ inReplyTo: 'M0', forwards: 'M0' }), 'forwards');
  const empty = await ask('POST', `/drafts/${first.body.id}/send`);
  assert.deepEqual([empty.status, empty.body.error.type], [409, 'invalid_state']);
  const received = await deliver('Not a draft');
  assert.equal((await ask('POST', `/drafts/${received}/send`)).body.error.type, 'invalid_state');
  assert.equal((await ask('POST', '/drafts/M0/send')).status, 404);
});

test('a draft of a mail program from an address that is not of the mailbox is not sent', async () => {
  await world.imap(
    'ann',
    append('Drafts', `From: ben@${DOMAIN}\nTo: ann@${DOMAIN}\nSubject: Forged\n\nx\n`, '\\Draft'),
  );
  const { id } = await newest('drafts');
  const { status, body } = await ask('POST', `/drafts/${id}/send`);
  assert.deepEqual([status, body.error.param], [400, 'from']);
});

test('a key reads, drafts or sends, as its maker has said', async () => {
  const { token: reads } = await world.addKey(ann, 'read');
  const { token: drafts } = await world.addKey(ann, 'drafts');
  const draft = { to: [`ben@${DOMAIN}`], subject: 'Limits', text: 'x' };
  for (const [method, end] of [
    ['POST', '/drafts'],
    ['PATCH', '/messages/M0'],
    ['POST', '/drafts/M0/send'],
  ] as const) {
    assert.equal((await world.ask(reads, method, path + end, draft)).status, 403, end);
    assert.equal((await world.ask(world.tenantKey, method, path + end, draft)).status, 403, end);
  }
  const made = await world.ask(drafts, 'POST', `${path}/drafts`, draft);
  assert.equal(made.status, 201);
  assert.equal(
    (await world.ask(drafts, 'PATCH', `${path}/messages/${made.body.id}`, { flagged: true })).status,
    200,
  );
  const refused = await world.ask(drafts, 'POST', `${path}/drafts/${made.body.id}/send`);
  assert.deepEqual([refused.status, refused.body.error.type], [403, 'restricted_api_key']);
  assert.equal((await newest('drafts')).id, made.body.id);
  assert.ok(ben.id !== ann.id);
});
