/** POP3 over accounts on disk, whose connections are handed over. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { checkAccount } from '../../src/accounts/check.ts';
import { INLINE_BYTES } from '../../src/accounts/content.ts';
import { contentFolder } from '../../src/accounts/folder.ts';
import { openMaildrop } from '../../src/accounts/maildrop.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { removeUnused } from '../../src/accounts/remove-unused.ts';
import { servePop3User } from '../../src/mail/pop3/server.ts';
import { isRefusal, type Session } from '../../src/mail/pop3/session.ts';
import { AppError } from '../../src/system/errors.ts';
import { startServer as startImapServer } from '../mail/imap/fixture.ts';
import { type Pop3Client, startServer } from '../mail/pop3/fixture.ts';
import { mailOf } from '../support/account-mail.ts';
import { handOverTo } from '../support/handovers.ts';
import { recordLog } from '../support/record-log.ts';
import { addTestMessages, createAccountApp, messageOf, openTestAccount } from '../support/test-account.ts';
import { waitUntil } from '../support/wait-until.ts';

const accounts = new Map<string, OpenAccount>();
after(async () => {
  for (const account of accounts.values()) await account.close();
});
let opened = 0;

/** Returns a new account, and a function that logs in to it. */
async function newAccount(app = createAccountApp()) {
  const name = `user${++opened}`;
  const account = await openTestAccount(app);
  accounts.set(name, account);
  return { account, name };
}

const users: ReturnType<typeof servePop3User>[] = [];

/** Opens a session that knows the accounts by their names. */
function openSession(): Session {
  return {
    async login({ username }) {
      const account = accounts.get(username) ?? assert.fail();
      const maildrop = await openMaildrop(account);
      if (isRefusal(maildrop)) return maildrop;
      const { clock, log } = account.app;
      const handover = handOverTo((stream) => {
        users.push(servePop3User({ clock, log, owner: 'user', pause: () => undefined }, stream, maildrop));
      });
      return { handover, count: maildrop.sizes.length, sizeBytes: 0 };
    },
    scramKey: () => assert.fail(),
    loginByProof: () => assert.fail(),
    close: () => {},
  };
}

async function serve(t: TestContext) {
  const { dial } = await startServer(t, { openSession });
  return {
    dial,
    async open(name: string): Promise<Pop3Client> {
      const client = dial();
      await client.line();
      await client.ask(`USER ${name}`);
      assert.match(await client.ask('PASS x'), /^\+OK/);
      return client;
    },
  };
}

const wire = (bytes: Buffer): string[] => ['+OK', ...bytes.toString().split('\r\n').slice(0, -1)];

test('messages of all sizes are what was stored, with their prefixes, and LIST has their exact sizes', async (t) => {
  const { account, name } = await newAccount();
  const bytes = [10, INLINE_BYTES - 50, INLINE_BYTES + 1_000, 150_000, 10, 20, 30].map((size, index) =>
    messageOf(`m${index}`, size),
  );
  const prefix = Buffer.from('Return-Path: <bob@sender.example>\r\n');
  await addTestMessages(
    account,
    'INBOX',
    bytes.map((one, index) => ({ bytes: one, prefix: index === 3 ? prefix : Buffer.alloc(0) })),
  );
  const { open } = await serve(t);
  const client = await open(name);
  const whole = bytes.map((one, index) => (index === 3 ? Buffer.concat([prefix, one]) : one));
  const [, ...sizes] = await client.askLong('LIST');
  assert.deepEqual(
    sizes,
    whole.map(({ length }, index) => `${index + 1} ${length}`),
  );
  const { uidValidity } = (await account.db.read
    .selectFrom('folders')
    .selectAll()
    .where('name', '=', 'INBOX')
    .executeTakeFirstOrThrow()) as { uidValidity: number };
  assert.equal(await client.ask('UIDL 3'), `+OK 3 ${uidValidity}.3`);
  // One after the other, backwards, twice, and in between only the first lines.
  for (const index of [0, 1, 2, 3, 4, 5, 6, 6, 3, 1, 2, 3, 0]) {
    assert.deepEqual(await client.askLong(`RETR ${index + 1}`), wire(whole[index] as Buffer), `${index}`);
    const header = wire((whole[index] as Buffer).subarray(0, whole[index]?.indexOf('\r\n\r\n')));
    assert.equal((await client.askLong(`TOP ${index + 1} 0`)).length, header.length + 2);
  }
  client.send(`${[1, 2, 3, 4, 5, 6, 7].map((number) => `RETR ${number}\r\n`).join('')}QUIT\r\n`);
  for (const one of whole) assert.deepEqual(await client.long(), wire(one));
  assert.equal(await client.line(), '+OK Good bye');
});

test('a session sees what was there at login, whatever others deliver and remove', async (t) => {
  const { account, name } = await newAccount();
  const bytes = ['a', 'b', 'c'].map((subject) => messageOf(subject, 100));
  const large = messageOf('large', INLINE_BYTES + 10);
  await addTestMessages(account, 'INBOX', [...bytes, large]);
  const { open } = await serve(t);
  const client = await open(name);
  const stat = await client.ask('STAT');
  const imap = await openImap(t, account);
  await imap('STORE 2:4 +FLAGS (\\Deleted)');
  await imap('EXPUNGE');
  await addTestMessages(account, 'INBOX', [messageOf('late')]);
  await removeUnused(account);
  assert.equal(await client.ask('STAT'), stat);
  for (const [index, one] of [...bytes, large].entries())
    assert.deepEqual(await client.askLong(`RETR ${index + 1}`), wire(one));
  for (const number of [1, 2, 4]) assert.match(await client.ask(`DELE ${number}`), /^\+OK/);
  assert.equal(await client.ask('QUIT'), '+OK Good bye');
  assert.match((await imap('NOOP')).join(), /1 EXPUNGE/);
  assert.equal((await (await open(name)).askLong('LIST')).length, 2);
  await removeUnused(account);
  assert.equal((await account.db.read.selectFrom('contents').select('id').execute()).length, 1);
  assert.deepEqual((await checkAccount(account)).findings, []);
});

/** Opens INBOX by IMAP. Returns a function that runs commands. */
async function openImap(t: TestContext, account: OpenAccount) {
  const imap = await startImapServer(t, { mail: mailOf(account) });
  const client = await imap.open('SELECT INBOX');
  return (command: string) => client.ask(command);
}

test('a maildrop has one session, and the next one has it as soon as QUIT was answered or the connection is gone', async (t) => {
  const { account, name } = await newAccount();
  await addTestMessages(account, 'INBOX', [messageOf('a'), messageOf('b')]);
  const other = await newAccount();
  const { open, dial } = await serve(t);
  const second = dial();
  await second.line();
  const tryAgain = async (): Promise<string> => {
    await second.ask(`USER ${name}`);
    return await second.ask('PASS x');
  };
  const client = await open(name);
  assert.equal(await tryAgain(), '-ERR [IN-USE] Another session has the maildrop');
  // Accounts have nothing to do with each other.
  assert.equal(await (await open(other.name)).ask('STAT'), '+OK 0 0');
  await client.askLong('RETR 1');
  assert.equal(await client.ask('QUIT'), '+OK Good bye');
  assert.match(await tryAgain(), /^\+OK 2 messages/);
  await second.askLong('RETR 1');
  await second.ask('DELE 1');
  second.socket.destroy();
  const third = dial();
  await third.line();
  await waitUntil(async () => {
    await third.ask(`USER ${name}`);
    return (await third.ask('PASS x')).startsWith('+OK 2 messages');
  });
  assert.equal((await account.db.read.selectFrom('messages').select('uid').execute()).length, 2);
});

test('QUIT removes all messages in one commit, or none of them', async (t) => {
  const { account, name } = await newAccount();
  const count = 1_200;
  await addTestMessages(
    account,
    'INBOX',
    Array.from({ length: count }, (_, index) => messageOf(`m${index}`)),
  );
  const { open } = await serve(t);
  const isFull = t.mock.method(account.db, 'commit', () =>
    Promise.reject(new AppError('unavailable', 'The disk is full')),
  );
  const failing = await open(name);
  failing.send('DELE 1\r\nDELE 5\r\nQUIT\r\n');
  assert.equal((await failing.rest()).at(-1), '-ERR [SYS/TEMP] The disk is full');
  isFull.mock.restore();
  const client = await open(name);
  const changes: number[] = [];
  account.changes.subscribe('all', ({ modseq }) => void changes.push(modseq));
  // All but one of each hundred.
  for (let number = 1; number <= count; number++) if (number % 100 !== 0) client.send(`DELE ${number}\r\n`);
  client.send('QUIT\r\n');
  assert.equal((await client.rest()).at(-1), '+OK Good bye');
  assert.equal(changes.length, 1);
  const left = await account.db.read.selectFrom('messages').select('uid').execute();
  const uids = left.map(({ uid }) => uid);
  assert.deepEqual(
    uids,
    Array.from({ length: 12 }, (_, index) => 100 * (index + 1)),
  );
  assert.deepEqual((await checkAccount(account)).findings, []);
});

test('a damaged message is refused, and the others can be read', async (t) => {
  const { log, lines } = recordLog();
  const { account, name } = await newAccount(createAccountApp({ log }));
  const [first, last] = [messageOf('a', 100), messageOf('d', 100)];
  await addTestMessages(account, 'INBOX', [first, messageOf('b', INLINE_BYTES + 1), messageOf('c'), last]);
  await rm(contentFolder(account.folder), { recursive: true });
  await account.db.maintain((connection) =>
    connection.exec(
      "UPDATE contentBytes SET body = CAST('y' || substr(body, 2) AS BLOB) WHERE contentId = 3",
    ),
  );
  const { open } = await serve(t);
  const client = await open(name);
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await client.askLong('RETR 1'), wire(first));
    for (const number of [2, 3])
      assert.equal(await client.ask(`RETR ${number}`), '-ERR [SYS/PERM] The message could not be read');
    assert.deepEqual(await client.askLong('RETR 4'), wire(last));
  }
  assert.ok(lines.length >= 2);
});

test('an account that ends its sessions ends those of POP3', async (t) => {
  const { account, name } = await newAccount();
  await addTestMessages(account, 'INBOX', [messageOf('a')]);
  const client = await (await serve(t)).open(name);
  await client.askLong('RETR 1');
  users.at(-1)?.end({ code: 'UNAVAILABLE', text: 'The mailbox is closed' });
  assert.deepEqual(await client.rest(), ['-ERR [SYS/TEMP] The mailbox is closed']);
});

const CHILD = fileURLToPath(new URL('./quitting-child.ts', import.meta.url));

for (const { point, left } of [
  { point: 'mailbox-quit-before-commit', left: [1, 2, 3, 4] },
  { point: 'mailbox-quit-after-commit', left: [2] },
]) {
  test(`after a process was killed at ${point}, all or none of the messages are gone`, async () => {
    const app = createAccountApp();
    const created = await openTestAccount(app);
    await addTestMessages(
      created,
      'INBOX',
      ['a', 'b', 'c', 'd'].map((subject) => messageOf(subject)),
    );
    await created.close();
    const child = spawn(process.execPath, [CHILD, created.folder, point], { stdio: 'inherit' });
    assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL']);
    const account = await openAccount(app, { id: 'mbx_1', folder: created.folder });
    const messages = await account.db.read.selectFrom('messages').select('uid').execute();
    assert.deepEqual(
      messages.map(({ uid }) => uid),
      left,
    );
    assert.deepEqual((await checkAccount(account)).findings, []);
    await account.close();
  });
}
