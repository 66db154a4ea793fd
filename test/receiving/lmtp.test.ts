import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { recordUsage, updateMailbox } from '../../src/mailboxes/store.ts';
import { openLmtp } from '../../src/receiving/listener.ts';
import { AppError } from '../../src/system/errors.ts';
import { openMailWorld } from '../inbound/mail-world.ts';
import { createClient, type TestClient } from '../mail/smtp/server/fixture.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';

const world = await openMailWorld();
const { app, knobs } = world;
const { tenantId } = world.test;
const lmtp = { address: '127.0.0.1', port: 0 };
/** Called before each write, which waits for it. */
let beforeWrite = async (): Promise<void> => {};
const commit: typeof app.db.commit = async (...write) => {
  await beforeWrite();
  return app.db.commit(...write);
};
const listener = await openLmtp({
  ...app,
  config: { ...app.config, lmtp },
  db: { ...app.db, read: app.db.read, commit },
});
const client = await open();
after(async () => {
  client.socket.destroy();
  await listener?.close();
});

async function open(): Promise<TestClient> {
  const port = Number(listener?.address.split(':').at(-1));
  const opened = createClient(connect({ host: '127.0.0.1', port, noDelay: true }));
  assert.match(await opened.reply(), /^220 .* LMTP\r\n/);
  await opened.ask('LHLO mail.here.example\r\n');
  return opened;
}

/** Sends commands at once, and returns the code and status of each reply. */
async function codes(...commands: string[]): Promise<string[]> {
  client.send(commands.map((command) => `${command}\r\n`).join(''));
  const replies: string[] = [];
  for (const _ of commands) replies.push(codeOf(await client.reply()));
  return replies;
}

function codeOf(reply: string): string {
  return /^\d{3}(?: \d\.\d\.\d+)?/.exec(reply)?.[0] ?? reply;
}

const MESSAGE = 'From: bob@elsewhere.example\r\nSubject: Hello\r\n\r\nHi\r\n.\r\n';

test('LMTP is off unless the configuration has an address for it', async () => {
  assert.equal(app.config.lmtp.address, '');
  assert.equal(await openLmtp(app), undefined);
});

test('LHLO lists the extensions, and the greetings of SMTP are unknown', async () => {
  const greeting = await client.ask('LHLO mail.here.example\r\n');
  for (const name of ['SIZE \\d+', 'PIPELINING', '8BITMIME', 'ENHANCEDSTATUSCODES', 'CHUNKING'])
    assert.match(greeting, new RegExp(`^250[- ]${name}\r$`, 'm'));
  assert.doesNotMatch(greeting, /STARTTLS/);
  for (const command of ['EHLO', 'HELO'])
    assert.match(await client.ask(`${command} mail.here.example\r\n`), /^500 /);
});

test('each recipient has its own answers, and mail is stored for mailboxes without being judged', async () => {
  const ann = await addMailbox(world.test, { address: 'ann@people.example' });
  const bob = await addMailbox(world.test, { address: 'bob@people.example' });
  const full = await addMailbox(world.test, { address: 'full@people.example', quotaBytes: 1_000 });
  await app.db.commit(recordUsage, { id: full.id, usedBytes: 1_000, messageCount: 1, lastModseq: 1 });
  const away = await addMailbox(world.test, { address: 'away@people.example' });
  const change = { status: 'suspended' } as const;
  await app.db.commit(updateMailbox, { tenantId, id: away.id, change, now: app.clock.now() });

  const replies = await codes(
    'MAIL FROM:<bob@elsewhere.example> BODY=8BITMIME',
    'RCPT TO:<ann@people.example>',
    'RCPT TO:<nobody@people.example>',
    'RCPT TO:<full@people.example>',
    'RCPT TO:<away@people.example>',
    'RCPT TO:<bob+lists@people.example>',
    'DATA',
  );
  assert.deepEqual(replies, [
    ...['250 2.1.0', '250 2.1.5', '550 5.1.1', '452 4.2.2', '450 4.2.1', '250 2.1.5'],
    '354',
  ]);
  client.send(MESSAGE);
  assert.match(await client.reply(), /^250 2\.0\.0 /);
  assert.match(await client.reply(), /^250 2\.0\.0 /);

  const [message] = await world.messages();
  assert.deepEqual(knobs.inputs, []);
  assert.deepEqual([message?.auth, message?.spamScore, message?.flagged], [null, null, 0]);
  assert.match(
    message?.trace ?? '',
    /^Return-Path: <bob@elsewhere\.example>\r\nAuthentication-Results: [^:]*\r\n none\r\n/,
  );
  assert.match(message?.trace ?? '', /\r\n\tby mx\.postrider\.example with LMTP\r\n/);
  const tasks = await world.tasks();
  assert.deepEqual(
    tasks.map(({ kind, targetId }) => [kind, targetId]),
    [
      ['mailbox', ann.id],
      ['mailbox', bob.id],
    ],
  );
});

test('a mailbox takes the mail of its address although a route has it, and no route takes mail', async () => {
  const { id } = await addMailbox(world.test, { address: 'ann@both.example' });
  await world.addRoute('ann@both.example');
  await world.addRoute('*@both.example');
  const replies = await codes(
    'MAIL FROM:<>',
    'RCPT TO:<ann@both.example>',
    'RCPT TO:<other@both.example>',
    'RCPT TO:<postmaster@both.example>',
    'RSET',
  );
  assert.deepEqual(replies, ['250 2.1.0', '250 2.1.5', '550 5.1.1', '550 5.1.1', '250 2.0.0']);
  assert.ok(id);
});

test('nothing is accepted before it is stored, or when it cannot be', async () => {
  await addMailbox(world.test, { address: 'ann@later.example' });
  await addMailbox(world.test, { address: 'bob@later.example' });
  const transaction = [
    ...['MAIL FROM:<bob@elsewhere.example>', 'RCPT TO:<ann@later.example>', 'RCPT TO:<bob@later.example>'],
    'DATA',
  ];
  const [reached, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  beforeWrite = () => {
    reached.resolve();
    return written.promise;
  };
  await codes(...transaction);
  client.send(MESSAGE);
  const reply = client.reply();
  await reached.promise;
  const other = await open();
  assert.equal(await Promise.race([reply, other.ask('NOOP\r\n')]), '250 2.0.0 OK\r\n');
  other.socket.destroy();
  written.resolve();
  assert.match(await reply, /^250 2\.0\.0 /);
  assert.match(await client.reply(), /^250 2\.0\.0 /);

  const stored = (await world.messages()).length;
  beforeWrite = () => Promise.reject(new AppError('unavailable', 'The disk is full'));
  await codes(...transaction);
  client.send(MESSAGE);
  assert.match(await client.reply(), /^45\d /);
  assert.match(await client.reply(), /^45\d /);
  beforeWrite = async () => {};
  assert.equal((await world.messages()).length, stored);
});

test('a mail server may name any number of unknown recipients', async () => {
  const unknown = Array.from({ length: 60 }, (_, number) => `RCPT TO:<guess${number}@people.example>`);
  const [, ...replies] = await codes('MAIL FROM:<bob@elsewhere.example>', ...unknown);
  assert.deepEqual([...new Set(replies)], ['550 5.1.1']);
  assert.deepEqual(await codes('RSET'), ['250 2.0.0']);
});

test('aliases and the catch-all mailbox take mail too, once for each mailbox, and routes take none', async () => {
  const address = 'eve@aliases.example';
  const { id } = await addMailbox(world.test, {
    address,
    aliases: ['role@aliases.example', '*@aliases.example'],
  });
  await world.addRoute(address);
  await world.addRoute('*@aliases.example');
  const names = ['eve', 'role', 'role+x', 'anybody', 'postmaster'];
  const recipients = names.map((name) => `RCPT TO:<${name}@aliases.example>`);
  const replies = await codes('MAIL FROM:<bob@elsewhere.example>', ...recipients, 'DATA');
  assert.deepEqual(replies, ['250 2.1.0', ...names.map(() => '250 2.1.5'), '354']);
  client.send(MESSAGE);
  const answers: string[] = [];
  for (const _ of names) answers.push(await client.reply());
  const [, messageId] = /^250 2\.0\.0 .* (in_\w+)\r\n$/.exec(answers[0] ?? '') ?? [];
  assert.deepEqual(
    answers,
    names.map(() => answers[0]),
  );
  const tasks = (await world.tasks()).filter((task) => task.messageId === messageId);
  assert.deepEqual(
    tasks.map(({ kind, targetId }) => [kind, targetId]),
    [['mailbox', id]],
  );
});
