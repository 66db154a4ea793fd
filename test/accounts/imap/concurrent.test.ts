/** Several sessions of one account see the changes of each other at the right moments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestClient } from '../../mail/imap/fixture.ts';
import { completes, message, numbersOf, ok, openerOf } from '../../mail/imap/letter.ts';
import { createAccountMail } from '../../support/account-mail.ts';

const mail = await createAccountMail();
const open = openerOf(mail);

test('a silent STORE tells what another session has changed before', async (t) => {
  const { ask, connect } = await open(t, ['1']);
  const other = await connect();
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Flagged');
  const lines = [...(await ok(ask, 'STORE 1 +FLAGS.SILENT \\Seen')), ...(await ok(ask, 'NOOP'))];
  assert.match(lines.join('\n'), /\* 1 FETCH \(.*\\Flagged/);
});

test('exactly one session sees a message as \\Recent', async (t) => {
  const { ask, connect, deliver } = await open(t, ['1']);
  const other = await connect();
  const isRecent = async (client: TestClient['ask']) =>
    (await ok(client, 'FETCH * FLAGS')).join().includes('\\Recent');
  assert.equal(await isRecent(ask), true);
  assert.equal(await isRecent(other.ask), false);
  await deliver(message('2'));
  assert.match((await ok(other.ask, 'NOOP')).join('\n'), /\* 2 EXISTS\n\* 1 RECENT/);
  assert.match((await ok(ask, 'NOOP')).join('\n'), /\* 2 EXISTS\n\* 1 RECENT/);
  assert.equal(await isRecent(other.ask), true);
  assert.equal(await isRecent(ask), false);
});

test('ESEARCH quotes the tag, answers empty results, and gives the MODSEQ of what it returns', async (t) => {
  const { client, ask } = await open(t, ['1', '2', '3']);
  for (const number of [1, 3, 2]) await ok(ask, `STORE ${number} +FLAGS \\Seen`);
  const modseqs = numbersOf('MODSEQ', await ok(ask, 'FETCH 1:3 MODSEQ'));
  const [first = 0, second = 0, third = 0] = modseqs;
  assert.ok(first < third && third < second, modseqs.join());
  client.send('A]1 SEARCH RETURN (MIN COUNT) SUBJECT nothing\r\n');
  assert.equal(await client.line(), '* ESEARCH (TAG "A]1") COUNT 0');
  assert.match(await client.line(), /^A\]1 OK/);
  const found = async (options: string) =>
    (await ok(ask, `SEARCH RETURN (${options}) MODSEQ 1`)).join().replace(/TAG "[^"]*"/, 'TAG');
  assert.equal(await found('MIN'), `* ESEARCH (TAG) MIN 1 MODSEQ ${first}`);
  assert.equal(await found('MAX'), `* ESEARCH (TAG) MAX 3 MODSEQ ${third}`);
  assert.equal(await found('MIN MAX'), `* ESEARCH (TAG) MIN 1 MAX 3 MODSEQ ${third}`);
  assert.equal(await found('ALL'), `* ESEARCH (TAG) ALL 1:3 MODSEQ ${second}`);
  assert.equal(await found('MIN COUNT'), `* ESEARCH (TAG) MIN 1 COUNT 3 MODSEQ ${second}`);
});

test('a mailbox that is opened read-only leaves \\Recent to the next session', async (t) => {
  const { mailbox, ask, deliver } = await open(t, []);
  await ok(ask, 'UNSELECT');
  await deliver(message('1'));
  for (const [command, recent] of [
    ['EXAMINE', 1],
    ['EXAMINE', 1],
    ['SELECT', 1],
    ['SELECT', 0],
  ] as const)
    assert.ok((await ok(ask, `${command} ${mailbox}`)).includes(`* ${recent} RECENT`), command);
  assert.deepEqual(await ok(ask, `STATUS ${mailbox} (RECENT)`), [`* STATUS ${mailbox} (RECENT 0)`]);
});

test('an open session is told of flags, of new messages and of removals in the order of sequence numbers', async (t) => {
  const { ask, connect, deliver } = await open(t, ['1', '2', '3', '4'], 'ENABLE CONDSTORE');
  const other = await connect();
  await ok(other.ask, 'STORE 2,3 +FLAGS.SILENT (\\Deleted)');
  await ok(other.ask, 'STORE 4 +FLAGS.SILENT (\\Flagged)');
  await ok(other.ask, 'EXPUNGE');
  await deliver(message('5'));
  const lines = (await ok(ask, 'NOOP')).map((line) => line.replace(/MODSEQ \(\d+\)/, 'MODSEQ'));
  assert.deepEqual(lines, [
    '* 3 EXPUNGE',
    '* 2 EXPUNGE',
    '* 3 EXISTS',
    '* 3 RECENT',
    '* 2 FETCH (UID 4 FLAGS (\\Flagged \\Recent) MODSEQ)',
  ]);
  assert.deepEqual(await ok(ask, 'NOOP'), []);
});

test('a message that two sessions move is moved once', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1']);
  const other = await connect();
  await ok(ask, `CREATE ${mailbox}/to`);
  await ok(ask, `MOVE 1 ${mailbox}/to`);
  assert.deepEqual(await ok(other.ask, `MOVE 1 ${mailbox}/to`), ['* 1 EXPUNGE']);
  assert.deepEqual(await ok(ask, `STATUS ${mailbox}/to (MESSAGES)`), [`* STATUS ${mailbox}/to (MESSAGES 1)`]);
});

test('a message that another session expunged can be copied', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1', '2']);
  const other = await connect();
  await ok(ask, `CREATE ${mailbox}/to`);
  await ok(ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  assert.match((await other.ask(`COPY 1:2 ${mailbox}/to`)).at(-1) ?? '', /^OK \[COPYUID \d+ 2,1 1:2\]/);
  await ok(other.ask, `SELECT ${mailbox}/to`);
  assert.deepEqual(await ok(other.ask, 'SEARCH SUBJECT 1'), ['* SEARCH 2']);
});

test('a deleted mailbox ends the sessions of others, and is empty for the one that deleted it', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1', '2']);
  const other = await connect();
  assert.deepEqual(await ok(ask, `DELETE ${mailbox}`), ['* 2 EXPUNGE', '* 1 EXPUNGE']);
  other.send('x NOOP\r\n');
  assert.deepEqual(await other.rest(), ['* BYE [UNAVAILABLE] The mailbox was deleted']);
  assert.deepEqual(await ok(ask, 'SEARCH ALL'), ['* SEARCH']);
  await completes(ask, `SELECT ${mailbox}`, /^NO \[NONEXISTENT\]/);
});

test('a session that ends without a word frees what it held', async (t) => {
  const { ask, connect } = await open(t, ['1']);
  const other = await connect();
  const before = await mail.account.db.read
    .selectFrom('contents')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirst();
  await ok(ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  assert.equal(mail.account.heldContents.has(before?.id ?? 0), true);
  assert.deepEqual(await ok(other.ask, 'LOGOUT'), ['* BYE Logging out']);
  await other.rest();
  assert.equal(mail.account.heldContents.has(before?.id ?? 0), false);
});

test('messages that RENAME takes out of INBOX can be read until the other session was told', async (t) => {
  const { ask, connect } = await open(t, []);
  await mail.deliver('INBOX', message('moved'));
  const other = await connect('SELECT INBOX');
  await ok(ask, 'RENAME INBOX "saved inbox"');
  assert.match((await ok(other.ask, 'FETCH 1 BODY.PEEK[]')).join(), /Subject: moved/);
  assert.deepEqual(await ok(other.ask, 'NOOP'), ['* 1 EXPUNGE']);
  assert.match((await ok(other.ask, 'STATUS "saved inbox" (MESSAGES)')).join(), /MESSAGES 1/);
});
