/** What the clients of people are known to do, and what they need as an answer. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { subscribe } from '../../../src/accounts/folders.ts';
import { createEmptyMail } from '../../support/account-mail.ts';
import { startServer } from './fixture.ts';

const MESSAGE = 'Subject: one\r\n\r\nbody\r\n';

async function open(t: TestContext, count: number, ...commands: string[]) {
  const server = await startServer(t);
  for (let index = 1; index <= count; index++) await server.mail.deliver('INBOX', MESSAGE);
  const client = await server.open(...commands);
  return { ...server, client, ask: (command: string) => client.ask(command) };
}

test('quirk 1: iOS sends DONE and its next commands in one packet', async (t) => {
  const { client, ask } = await open(t, 1, 'SELECT INBOX');
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  client.send('DONE\r\nx NOOP\r\ny IDLE\r\nDONE\r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
  assert.deepEqual(
    [await client.line(), await client.line(), await client.line()],
    ['x OK NOOP completed', '+ idling', 'y OK IDLE completed'],
  );
});

test('quirk 2: a tagged IDLE while idling ends the old one with BAD, and runs', async (t) => {
  const { client, ask, mail } = await open(t, 1, 'SELECT INBOX');
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  assert.deepEqual(await ask('IDLE'), ['t3 BAD IDLE ends with DONE', '+ idling']);
  await mail.deliver('INBOX', MESSAGE);
  assert.equal(await client.line(), '* 2 EXISTS');
  client.send('DONE\r\n');
  assert.deepEqual(await client.responses(), ['* 2 RECENT', 'OK IDLE completed']);
});

test('quirk 3: EXPUNGE with nothing deleted says nothing about the mailbox', async (t) => {
  const { ask } = await open(t, 1, 'SELECT INBOX');
  assert.deepEqual(await ask('EXPUNGE'), ['OK EXPUNGE completed']);
});

test('quirk 4: pipelined commands are answered in their order', async (t) => {
  const { client } = await open(t, 2, 'SELECT INBOX');
  client.send(
    'a UID FETCH 1 BODY.PEEK[]\r\nb FOO\r\nc SEARCH ALL\r\nd APPEND INBOX {1+}\r\nx\r\ne NOOP\r\nf LOGOUT\r\n',
  );
  const tagged = (await client.rest()).flatMap((line) => line.match(/^[a-f](?= )/g) ?? []);
  assert.deepEqual(tagged, ['a', 'b', 'c', 'd', 'e', 'f']);
});

test('quirk 5: iOS sends CHANGEDSINCE 0', async (t) => {
  const { ask } = await open(t, 2, 'SELECT INBOX (CONDSTORE)');
  assert.deepEqual(await ask('UID FETCH 1:* (FLAGS) (CHANGEDSINCE 0)'), [
    '* 1 FETCH (UID 1 FLAGS (\\Recent) MODSEQ (12))',
    '* 2 FETCH (UID 2 FLAGS (\\Recent) MODSEQ (13))',
    'OK UID FETCH completed',
  ]);
  assert.deepEqual(await ask('FETCH 1:* FLAGS (CHANGEDSINCE 13)'), ['OK FETCH completed']);
});

test('quirk 8: LIST "" "" answers the separator and the root', async (t) => {
  const { ask } = await open(t, 0);
  assert.deepEqual(await ask('LIST "" ""'), ['* LIST (\\Noselect) "/" ""', 'OK LIST completed']);
  assert.deepEqual(await ask('LSUB "" ""'), ['* LSUB (\\Noselect) "/" ""', 'OK LSUB completed']);
});

test('quirk 14: the tag of ESEARCH is a quoted string', async (t) => {
  const { client } = await open(t, 0, 'SELECT INBOX');
  client.send('A]1 SEARCH RETURN (ALL) ALL\r\n');
  assert.equal(await client.line(), '* ESEARCH (TAG "A]1")');
  assert.equal(await client.line(), 'A]1 OK SEARCH completed');
});

test('quirk 15: a message that is too large leaves nothing behind, whichever literal announced it', async (t) => {
  const { open: connect, mail } = await startServer(t, { limits: { messageBytes: 1_000 } });
  const client = await connect('SELECT INBOX');
  const refusal = ['NO [TOOBIG] A message has at most 1000 octets'];
  assert.deepEqual(await client.ask('APPEND INBOX {1001}'), refusal);
  assert.deepEqual(
    await client.ask(`APPEND INBOX {9+}\r\n123456789 {200001+}\r\n${'x\r\n'.repeat(66_667)}`),
    refusal,
  );
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  client.send('DONE\r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
  assert.equal(await mail.count('INBOX'), 0);
});

test('quirk 16: Thunderbird asks for subscribed mailboxes with their special use', async (t) => {
  const { ask, mail } = await open(t, 0);
  await mail.addFolder('Sent', '\\Sent');
  await mail.addFolder('Hidden');
  for (const name of ['INBOX', 'Sent']) await subscribe(mail.account, name);
  assert.deepEqual(await ask('list (subscribed) "" "*" return (special-use)'), [
    '* LIST (\\Subscribed) "/" INBOX',
    '* LIST (\\Subscribed \\Sent) "/" Sent',
    'OK LIST completed',
  ]);
});

test('quirk 18: IDLE begins with what the client was not told yet', async (t) => {
  const { client, ask, mail } = await open(t, 1, 'SELECT INBOX');
  await mail.deliver('INBOX', MESSAGE);
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  assert.equal(await client.line(), '* 2 EXISTS');
});

test('quirk 22: UID comes first in a response, and the items follow as they were asked for', async (t) => {
  const { ask } = await open(t, 1, 'SELECT INBOX');
  assert.deepEqual(await ask('FETCH 1 (BODY.PEEK[TEXT] RFC822.SIZE UID FLAGS)'), [
    '* 1 FETCH (UID 1 BODY[TEXT] {6}\r\nbody\r\n RFC822.SIZE 22 FLAGS (\\Recent))',
    'OK FETCH completed',
  ]);
});

test('quirk 23: FETCH that fails ends the connection, and other commands answer NO', async (t) => {
  const fail = (): Buffer => {
    throw new Error('the disk is gone');
  };
  const mail = await createEmptyMail({
    selected: {
      async *fetch() {
        yield Buffer.from('* 1 FETCH (UID 1)\r\n');
        yield fail();
        return undefined;
      },
      async *search() {
        yield fail();
        return undefined;
      },
      expunge: async () => ({ refused: 'BYE', code: 'UNAVAILABLE', text: 'The mailbox has changed' }),
    },
  });
  const server = await startServer(t, { mail });
  const client = await server.open('SELECT INBOX');
  assert.deepEqual(await client.ask('SEARCH ALL'), [
    'NO [SERVERBUG] The server failed to process the request',
  ]);
  client.send('x FETCH 1 UID\r\ny NOOP\r\n');
  assert.deepEqual(await client.rest(), [
    '* 1 FETCH (UID 1)',
    '* BYE [SERVERBUG] The server failed to read a message',
  ]);
  assert.equal(server.lines.length, 2);
  const other = await server.open('SELECT INBOX');
  other.send('x EXPUNGE\r\n');
  assert.deepEqual(await other.rest(), ['* BYE [UNAVAILABLE] The mailbox has changed']);
  assert.equal(mail.openSessions, 0);
});

test('quirk 24: MOVE and COPY of UIDs that do not exist succeed', async (t) => {
  const { ask } = await open(t, 1, 'SELECT INBOX');
  for (const command of ['UID MOVE', 'UID COPY'])
    assert.deepEqual(await ask(`${command} 7:9 INBOX`), ['OK No message was found']);
  assert.deepEqual(await ask('UID FETCH 7 FLAGS'), ['OK UID FETCH completed']);
});

test('quirk 25: UID FETCH n:* with n beyond the end returns the last message, and tells of new ones', async (t) => {
  const { ask, mail } = await open(t, 2, 'SELECT INBOX');
  await mail.deliver('INBOX', MESSAGE);
  await mail.remove('INBOX', 1);
  assert.deepEqual(await ask('UID FETCH 100:* UID'), [
    '* 2 FETCH (UID 2)',
    '* 1 EXPUNGE',
    '* 2 EXISTS',
    '* 2 RECENT',
    'OK UID FETCH completed',
  ]);
  assert.deepEqual(await ask('UID FETCH 100:* UID'), ['* 2 FETCH (UID 3)', 'OK UID FETCH completed']);
});

test('quirk 26: a pipelined STORE and EXPUNGE run in their order', async (t) => {
  const { client, mail } = await open(t, 3, 'SELECT INBOX');
  client.send('a STORE 1:2 +FLAGS.SILENT \\Deleted\r\nb EXPUNGE\r\nc LOGOUT\r\n');
  assert.deepEqual(await client.rest(), [
    'a OK STORE completed',
    '* 2 EXPUNGE',
    '* 1 EXPUNGE',
    'b OK EXPUNGE completed',
    '* BYE Logging out',
    'c OK LOGOUT completed',
  ]);
  assert.equal(await mail.count('INBOX'), 1);
});

test('quirk 27: ENVELOPE is 7-bit until the client has enabled UTF-8', async (t) => {
  const { ask, mail } = await open(t, 0, 'SELECT INBOX');
  await mail.deliver('INBOX', 'Subject: gr\u00fcn\r\n\r\n');
  const subjectOf = async () => {
    const lines = await ask('UID FETCH 1:* ENVELOPE');
    return lines.find((line) => line.includes('ENVELOPE')) ?? '';
  };
  await ask('NOOP');
  assert.match(await subjectOf(), /^[\x20-\x7e\r\n]+$/);
  await ask('ENABLE UTF8=ACCEPT');
  assert.match(await subjectOf(), /"gr\xc3\xbcn"/);
});

test('no EXPUNGE comes in FETCH, STORE and SEARCH, and messages that another session removed can be read', async (t) => {
  const { ask, mail } = await open(t, 2, 'SELECT INBOX');
  await mail.remove('INBOX', 1);
  for (const command of ['FETCH 1 UID', 'STORE 1 +FLAGS.SILENT \\Seen', 'SEARCH ALL']) {
    const answer = await ask(command);
    assert.match(answer.at(-1) ?? '', /^OK/);
    assert.doesNotMatch(answer.join(), /EXPUNGE/);
  }
  assert.deepEqual(await ask('CHECK'), ['* 1 EXPUNGE', 'OK CHECK completed']);
});
