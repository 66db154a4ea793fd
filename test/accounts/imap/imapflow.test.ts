/** imapflow, a client that others have written, uses each extension that it knows over an account. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { ImapFlow, type ImapFlowOptions, type MailboxObject } from 'imapflow';
import { startServer } from '../../mail/imap/fixture.ts';
import { type AccountMail, createAccountMail, USER } from '../../support/account-mail.ts';

const QUOTA_BYTES = 1024 * 1024;

const mail = await createAccountMail({ quotaBytes: QUOTA_BYTES });

/** Commands that clients have sent, without their tags. */
const sent: string[] = [];

/** Returns a client that has logged in. */
async function connect(t: TestContext, options: ImapFlowOptions = {}): Promise<ImapFlow> {
  const server = await startServer<AccountMail>(t, { mail });
  const record = ({ src, msg }: { src?: string; msg?: string }) => {
    if (src === 'c') sent.push(msg?.replace(/^\S+ /, '') ?? '');
  };
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: server.port,
    auth: { user: USER.username, pass: USER.password },
    logger: { debug: record, info: record, warn: record, error: record },
    disableAutoIdle: true,
    ...options,
  });
  client.on('error', () => {});
  await client.connect();
  t.after(() => client.close());
  return client;
}

const letter = (subject: string) =>
  `From: "Ann" <ann@test.example>\r\nTo: b@test.example\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@test.example>\r\n` +
  `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n` +
  `--x\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe of ${subject}\r\n` +
  `--x\r\nContent-Type: application/octet-stream; name=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\nAAECAw==\r\n--x--\r\n`;

/** Waits for an event of a client, and returns what it tells. */
async function nextEvent<T>(client: ImapFlow, name: string): Promise<T> {
  const [event] = await once(client, name, { signal: AbortSignal.timeout(5_000) });
  return event as T;
}

/** Returns the result of a command; false stands for a failure. */
function done<T>(result: T | false): T {
  if (result === false) throw new Error(`a command has failed: ${sent.at(-1)}`);
  return result;
}

/** Opens a folder of this name with these messages. */
async function open(client: ImapFlow, folder: string, subjects: readonly string[]): Promise<MailboxObject> {
  await client.mailboxCreate(folder);
  for (const subject of subjects) await mail.deliver(folder, letter(subject));
  return client.mailboxOpen(folder);
}

test('a client sets up its connection, lists the folders and reads the quota', async (t) => {
  const client = await connect(t);
  assert.deepEqual([...client.enabled].sort(), ['CONDSTORE', 'IMAP4REV2', 'UTF8=ACCEPT']);
  assert.deepEqual(client.namespaces?.personal, [{ prefix: '', delimiter: '/' }]);
  assert.ok(sent.includes('COMPRESS DEFLATE'));

  const folders = await client.list({ statusQuery: { messages: true, size: true, deleted: true } });
  const described = folders.map(({ path, specialUse, subscribed, status }) => [
    path,
    specialUse,
    subscribed && status?.messages === 0 && status.size === 0 && status.deleted === 0,
  ]);
  assert.deepEqual(described, [
    ['INBOX', '\\Inbox', true],
    ...['Sent', 'Drafts', 'Archive', 'Junk', 'Trash'].map((name) => [name, `\\${name}`, true]),
  ]);
  assert.equal(
    sent.at(-1),
    'LIST "" "*" RETURN (STATUS (MESSAGES SIZE DELETED) SPECIAL-USE CHILDREN SUBSCRIBED)',
  );
  assert.deepEqual(await client.getQuota('INBOX'), {
    path: 'INBOX',
    storage: { usage: 0, limit: QUOTA_BYTES, status: '0%' },
  });
});

test('folders are created with their parents and their ids, renamed, and deleted', async (t) => {
  const client = await connect(t);
  const created = await client.mailboxCreate(['Küche', 'Rezepte & Bücher']);
  assert.equal(created.path, 'Küche/Rezepte & Bücher');
  assert.equal(created.created, true);
  assert.equal((await client.mailboxCreate('Küche/Rezepte & Bücher')).created, false);
  await client.mailboxRename('Küche', 'Keller');
  const opened = await client.mailboxOpen('Keller/Rezepte & Bücher');
  assert.equal(opened.mailboxId, created.mailboxId);
  await client.mailboxDelete('Keller/Rezepte & Bücher');
  const isSubscribed = async () =>
    (await client.list()).find(({ path }) => path === 'Keller')?.subscribed === true;
  await client.mailboxSubscribe('Keller');
  assert.equal(await isSubscribed(), true);
  await client.mailboxUnsubscribe('Keller');
  assert.equal(await isSubscribed(), false);
});

test('messages are appended with flags and dates, binary ones too, and read again', async (t) => {
  const client = await connect(t);
  await client.mailboxCreate('Post');
  const date = new Date('2025-01-02T03:04:05Z');
  const first = done(await client.append('Post', letter('One'), ['\\Flagged', 'Urlaub'], date));
  const binary = Buffer.from('Subject: Two\r\nContent-Transfer-Encoding: binary\r\n\r\na\0b');
  const second = done(await client.append('Post', binary));
  assert.deepEqual([first.uid, second.uid], [1, 2]);
  const tooLarge = Buffer.alloc(Number(client.capabilities.get('APPENDLIMIT')) + 1);
  await assert.rejects(client.append('Post', tooLarge), /too big for APPENDLIMIT/);

  const { uidValidity } = await client.mailboxOpen('Post');
  assert.equal(first.uidValidity, uidValidity);
  const parts = ['1', '2', { key: 'text', start: 0, maxLength: 3 }];
  const query = { flags: true, envelope: true, bodyStructure: true, internalDate: true, emailId: true };
  const [one] = await client.fetchAll('1', { ...query, size: true, headers: ['subject'], bodyParts: parts });
  assert.deepEqual([...(one?.flags ?? [])], ['\\Flagged', 'Urlaub']);
  assert.deepEqual(one?.envelope?.from, [{ name: 'Ann', address: 'ann@test.example' }]);
  assert.deepEqual(one?.internalDate, date);
  assert.equal(one?.size, letter('One').length);
  assert.match(one?.emailId ?? '', /^M/);
  assert.deepEqual(
    one?.bodyStructure?.childNodes?.map(({ type, encoding }) => [type, encoding]),
    [
      ['text/plain', 'quoted-printable'],
      ['application/octet-stream', 'base64'],
    ],
  );
  assert.deepEqual(
    ['1', '2', 'text'].map((part) => one?.bodyParts?.get(part)?.toString()),
    ['Gr=C3=BC=C3=9Fe of One', 'AAECAw==', '--x'],
  );
});

test('parts are decoded by the server', async (t) => {
  const client = await connect(t);
  await open(client, 'Parts', ['One']);
  const [message] = await client.fetchAll('1', { bodyParts: ['1', '2'] }, { binary: true });
  assert.match(sent.at(-1) ?? '', /BINARY\.PEEK\[1\].*BINARY\.PEEK\[2\]/);
  assert.equal(message?.bodyParts?.get('1')?.toString(), 'Grüße of One');
  assert.deepEqual(message?.bodyParts?.get('2'), Buffer.from([0, 1, 2, 3]));
});

test('searches return what was asked for', async (t) => {
  const client = await connect(t);
  await open(client, 'Search', ['One', 'Two', 'Three']);
  await client.messageFlagsAdd('1', ['Urlaub']);
  const all = { all: true };
  assert.deepEqual(await client.search(all, { returnOptions: ['MIN', 'MAX', 'COUNT', 'ALL'] }), {
    ...{ min: 1, max: 3, count: 3 },
    all: '1:3',
  });
  assert.deepEqual(await client.search(all, { uid: true, returnOptions: [{ partial: '-1:-2' }] }), {
    partial: { range: '-1:-2', messages: '2:3' },
  });
  assert.deepEqual(await client.search({ body: 'GRÜßE OF TW' }), [2]);
  assert.deepEqual(
    await client.search({ or: [{ subject: 'thr' }, { keyword: 'urlaub' }], not: { seen: true } }),
    [1, 3],
  );
  assert.deepEqual(await client.search({ header: { 'Message-ID': 'two@' } }), [2]);
  const { emailId } = done(await client.fetchOne('2', { emailId: true }));
  assert.deepEqual(await client.search({ emailId }), [2]);
  // The messages have arrived at the beginning of 1970.
  assert.deepEqual(await client.search({ since: new Date(Date.now() - 60_000) }), []);
  assert.match(sent.at(-1) ?? '', /^SEARCH YOUNGER \d+$/);
});

test('a change that another client has overtaken is refused', async (t) => {
  const client = await connect(t);
  const { highestModseq } = await open(client, 'Flags', ['One', 'Two']);
  const changes = nextEvent<{ flags: Set<string> }>(client, 'flags');
  await client.messageFlagsAdd('1', ['\\Answered', '$Work']);
  assert.deepEqual([...(await changes).flags].sort(), ['$Work', '\\Answered']);
  await client.messageFlagsAdd('1:2', ['\\Deleted'], { unchangedSince: highestModseq });
  const flags = async (range: string, changedSince: bigint | undefined) => {
    const messages = await client.fetchAll(range, { flags: true }, { changedSince });
    return messages.map((message) => [message.uid, ...[...(message.flags ?? [])].sort()]);
  };
  assert.deepEqual(await flags('1:*', highestModseq), [
    [1, '$Work', '\\Answered'],
    [2, '\\Deleted'],
  ]);
});

test('messages are copied and moved, and their new UIDs are known', async (t) => {
  const client = await connect(t);
  await open(client, 'From', ['One', 'Two', 'Three']);
  await client.mailboxCreate('To');
  const copied = done(await client.messageCopy('2:3', 'To', { uid: true }));
  assert.deepEqual(
    copied.uidMap,
    new Map([
      [2, 1],
      [3, 2],
    ]),
  );
  const moved = done(await client.messageMove('1', 'To', { uid: true }));
  assert.deepEqual(moved.uidMap, new Map([[1, 3]]));
  assert.equal(await client.messageDelete('2', { uid: true }), true);
  assert.equal(sent.at(-1), 'UID EXPUNGE 2');
  assert.deepEqual(await client.search({ all: true }, { uid: true }), [3]);
});

test('a client that comes back hears only what has changed', async (t) => {
  const options = { qresync: true, disableIMAP4rev2: true };
  const first = await connect(t, options);
  const { uidValidity, highestModseq } = await open(first, 'Sync', ['One', 'Two', 'Three']);
  assert.ok(first.enabled.has('QRESYNC'));
  await first.mailboxClose();
  const other = await connect(t);
  await other.mailboxOpen('Sync');
  await other.messageFlagsAdd('1', ['\\Seen']);
  await other.messageDelete('2');

  const changes: unknown[] = [];
  first.on('flags', ({ uid, flags }) => changes.push([uid, ...flags]));
  first.on('expunge', ({ uid, vanished, earlier }) => changes.push({ uid, vanished, earlier }));
  await first.mailboxOpen('Sync', { uidValidity, changedSince: highestModseq });
  assert.deepEqual(changes, [{ uid: 2, vanished: true, earlier: true }, [1, '\\Seen']]);
});

test('a client in IDLE hears of new mail, flags and removals', async (t) => {
  const client = await connect(t);
  await open(client, 'Idle', ['One']);
  const idle = client.idle();
  const exists = nextEvent<{ count: number }>(client, 'exists');
  await mail.deliver('Idle', letter('Two'));
  assert.equal((await exists).count, 2);
  const other = await connect(t);
  await other.mailboxOpen('Idle');
  const flags = nextEvent<{ seq: number; flags: Set<string> }>(client, 'flags');
  await other.messageFlagsAdd('1', ['\\Flagged']);
  assert.deepEqual([...(await flags).flags], ['\\Flagged']);
  const expunge = nextEvent<{ seq: number }>(client, 'expunge');
  await other.messageMove('1', 'Trash');
  assert.equal((await expunge).seq, 1);
  await client.noop();
  await idle;
});
