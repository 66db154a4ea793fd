import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/system/errors.ts';
import { createMemoryMaildrop, USER } from '../../support/memory-pop3-session.ts';
import { createScramClient } from '../../support/scram-client.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { LOGIN, startServer } from './fixture.ts';

const FIRST = 'Subject: one\r\n\r\nHello\r\n.dot\r\nend\r\n';
const SECOND = 'Subject: two\r\n\r\n1\r\n2\r\n3\r\n';
const plain = (text: string): string => Buffer.from(text).toString('base64');

function twoMessages() {
  return createMemoryMaildrop([FIRST, SECOND]);
}

test('a user logs in, lists and reads messages, and leaves', async (t) => {
  const { dial, drop } = await startServer(t, { drop: twoMessages() });
  const client = dial();
  assert.equal(await client.line(), '+OK mail.test is ready');
  assert.equal(await client.ask(LOGIN[0]), '+OK');
  assert.equal(await client.ask(LOGIN[1]), `+OK 2 messages (${FIRST.length + SECOND.length} octets)`);
  assert.deepEqual(drop.logins, [USER]);
  assert.equal(await client.ask('STAT'), `+OK 2 ${FIRST.length + SECOND.length}`);
  assert.deepEqual(await client.askLong('LIST'), [
    '+OK 2 messages',
    `1 ${FIRST.length}`,
    `2 ${SECOND.length}`,
  ]);
  assert.equal(await client.ask('LIST 2'), `+OK 2 ${SECOND.length}`);
  assert.deepEqual(await client.askLong('uidl'), ['+OK 2 messages', '1 7.10', '2 7.20']);
  assert.equal(await client.ask('UIDL 2'), '+OK 2 7.20');
  assert.deepEqual(await client.askLong('RETR 1'), ['+OK', 'Subject: one', '', 'Hello', '..dot', 'end']);
  assert.deepEqual(await client.askLong('TOP 2 2'), ['+OK', 'Subject: two', '', '1', '2']);
  assert.deepEqual(await client.askLong('TOP 2 0'), ['+OK', 'Subject: two', '']);
  assert.deepEqual(await client.askLong('TOP 2 99'), ['+OK', 'Subject: two', '', '1', '2', '3']);
  assert.equal(await client.ask('NOOP'), '+OK');
  assert.equal(await client.ask('QUIT'), '+OK Good bye');
  assert.deepEqual(await client.rest(), []);
  assert.equal(drop.messages.length, 2);
});

test('responses are in English, which a client can choose before and after its login', async (t) => {
  const { greeted, open } = await startServer(t, { drop: twoMessages() });
  const early = await greeted();
  for (const client of [early, await open()]) {
    assert.deepEqual(await client.askLong('LANG'), ['+OK Languages', 'en English']);
    for (const range of ['en', 'EN', '*'])
      assert.equal(await client.ask(`LANG ${range}`), '+OK en Responses are in English');
    for (const range of ['de', 'en-US', 'en de'])
      assert.equal(await client.ask(`LANG ${range}`), '-ERR Responses are in English alone');
  }
});

test('what is marked as deleted is no longer there, and comes back with RSET', async (t) => {
  const { open, drop } = await startServer(t, { drop: twoMessages() });
  const client = await open();
  assert.equal(await client.ask('DELE 1'), '+OK The message is marked as deleted');
  for (const command of ['DELE 1', 'RETR 1', 'TOP 1 0', 'LIST 1', 'UIDL 1'])
    assert.equal(await client.ask(command), '-ERR There is no such message', command);
  assert.equal(await client.ask('STAT'), `+OK 1 ${SECOND.length}`);
  assert.deepEqual(await client.askLong('LIST'), ['+OK 1 messages', `2 ${SECOND.length}`]);
  assert.deepEqual(await client.askLong('UIDL'), ['+OK 1 messages', '2 7.20']);
  assert.equal(await client.ask('RSET'), '+OK');
  assert.equal(await client.ask('STAT'), `+OK 2 ${FIRST.length + SECOND.length}`);
  await client.ask('DELE 2');
  assert.equal(await client.ask('QUIT'), '+OK Good bye');
  const uids = drop.messages.map(({ uid }) => uid);
  assert.deepEqual(uids, [10]);
});

test('a connection that ends without QUIT deletes nothing', async (t) => {
  const { open, drop } = await startServer(t, { drop: twoMessages() });
  const client = await open();
  await client.ask('DELE 1');
  client.socket.destroy();
  await waitUntil(() => !drop.isTaken);
  assert.equal(drop.messages.length, 2);
});

test('QUIT that could not delete is answered with an error, and ends the connection', async (t) => {
  const refusal = { refused: true, code: 'SYS/TEMP', text: 'The disk is full' } as const;
  for (const quit of [
    async () => refusal,
    async () => {
      throw new AppError('unavailable', 'The disk is full');
    },
  ]) {
    const { open, drop } = await startServer(t, { drop: createMemoryMaildrop([FIRST], { quit }) });
    const client = await open();
    await client.ask('DELE 1');
    assert.equal(await client.ask('QUIT'), '-ERR [SYS/TEMP] The disk is full');
    assert.deepEqual(await client.rest(), []);
    assert.equal(drop.messages.length, 1);
  }
});

test('a maildrop has one session at a time', async (t) => {
  const { open, greeted } = await startServer(t, { drop: twoMessages() });
  const first = await open();
  const second = await greeted();
  await second.ask(LOGIN[0]);
  assert.equal(await second.ask(LOGIN[1]), '-ERR [IN-USE] Another session has the maildrop');
  await first.ask('QUIT');
  await second.ask(LOGIN[0]);
  assert.match(await second.ask(LOGIN[1]), /^\+OK 2 messages/);
});

test('capabilities are the same before and after login', async (t) => {
  const { greeted } = await startServer(t);
  const client = await greeted();
  const early = await client.askLong('CAPA');
  assert.deepEqual(early, [
    ...['+OK Capabilities', 'TOP', 'UIDL', 'PIPELINING', 'RESP-CODES', 'AUTH-RESP-CODE', 'EXPIRE NEVER'],
    ...['UTF8 USER', 'LANG', 'USER', 'SASL SCRAM-SHA-256 PLAIN LOGIN', 'IMPLEMENTATION Test'],
  ]);
  for (const command of LOGIN) await client.ask(command);
  assert.deepEqual(await client.askLong('capa'), early);
});

test('each command has its state and its arguments', async (t) => {
  const { open, greeted } = await startServer(t, { drop: twoMessages() });
  const early = await greeted();
  for (const command of ['STAT', 'LIST', 'UIDL', 'RETR 1', 'TOP 1 1', 'DELE 1', 'RSET', 'NOOP'])
    assert.equal(await early.ask(command), '-ERR The command needs a login', command);
  assert.equal(await early.ask('PASS x'), '-ERR USER comes first');
  await early.ask('USER x');
  assert.match(await early.ask('PASS wrong'), /^-ERR \[AUTH\]/);
  assert.equal(await early.ask('PASS x'), '-ERR USER comes first');
  assert.equal(await early.ask('USER'), '-ERR The command needs the name of a user');
  assert.equal(await early.ask('STLS'), '-ERR TLS is not available');
  assert.equal(await early.ask('APOP a b'), '-ERR The command is unknown');
  assert.equal(await early.ask('QUIT now'), '-ERR The command has no arguments');
  assert.equal(await early.ask('QUIT'), '+OK Good bye');
  const client = await open();
  for (const command of ['USER x', 'PASS x', 'AUTH PLAIN', 'STLS', 'UTF8'])
    assert.equal(await client.ask(command), '-ERR The user has logged in already', command);
  for (const number of ['0', '3', '999999999'])
    assert.equal(await client.ask(`RETR ${number}`), '-ERR There is no such message', number);
  for (const argument of ['', ' -1', ' x', ' 1 2', ' 1.0', ' 9999999999', ' 0x1'])
    assert.equal(await client.ask(`DELE${argument}`), '-ERR The command needs the number of a message');
  for (const argument of ['1', '1 x', '1 -1', '1 1 1'])
    assert.equal(await client.ask(`TOP ${argument}`), '-ERR The command needs a number of lines');
  for (const command of ['STAT 1', 'RSET 1', 'NOOP 1', 'CAPA 1'])
    assert.equal(await client.ask(command), '-ERR The command has no arguments', command);
  // Some clients end every command with a space.
  for (const command of ['STAT ', 'NOOP ']) assert.match(await client.ask(command), /^\+OK/, command);
  for (const command of ['CAPA ', 'UIDL ', 'LIST '])
    assert.match((await client.askLong(command)).join(), /^\+OK/, command);
});

test('AUTH takes PLAIN and LOGIN, with and without an initial response, and lists the mechanisms', async (t) => {
  const { greeted } = await startServer(t, { drop: twoMessages() });
  const { username, password } = USER;
  const answer = plain(`\0${username}\0${password}`);
  const logIn = async (...lines: string[]): Promise<string[]> => {
    const client = await greeted();
    const answers: string[] = [];
    for (const line of lines) answers.push(await client.ask(line));
    if (answers.at(-1)?.startsWith('+OK')) await client.ask('QUIT');
    return answers;
  };
  const welcome = `+OK 2 messages (${FIRST.length + SECOND.length} octets)`;
  assert.deepEqual(await logIn(`AUTH PLAIN ${answer}`), [welcome]);
  assert.deepEqual(await logIn('auth plain', answer), ['+ ', welcome]);
  assert.deepEqual(await logIn('AUTH LOGIN', plain(username), plain(password)), [
    `+ ${plain('Username:')}`,
    `+ ${plain('Password:')}`,
    welcome,
  ]);
  assert.deepEqual(await logIn('AUTH PLAIN', '*'), ['+ ', '-ERR The client has cancelled the login']);
  assert.deepEqual(await logIn(`AUTH PLAIN ${plain('\0a\0b')}`), [
    '-ERR [AUTH] The user name or the password is wrong',
  ]);
  assert.deepEqual(await logIn(`AUTH PLAIN ${plain(`other\0${username}\0${password}`)}`), [
    '-ERR [AUTH] A user cannot act for another user',
  ]);
  assert.deepEqual(await logIn('AUTH CRAM-MD5'), ['-ERR The mechanism is not supported']);
  for (const command of ['AUTH', 'AUTH ']) {
    const client = await greeted();
    assert.deepEqual(await client.askLong(command), [
      ...['+OK Mechanisms', 'SCRAM-SHA-256', 'PLAIN', 'LOGIN'],
    ]);
  }
});

test('AUTH takes SCRAM, and the maildrop is open once the client believes the server', async (t) => {
  const { greeted } = await startServer(t, { drop: twoMessages() });
  const client = await greeted();
  const scram = createScramClient(USER);
  const read = (line: string) => Buffer.from(line.slice(2), 'base64').toString();
  const challenge = await client.ask(`AUTH SCRAM-SHA-256 ${plain(scram.first)}`);
  const final = await client.ask(plain(scram.final(read(challenge))));
  assert.ok(scram.believes(read(final)), final);
  assert.match(await client.ask(''), /^\+OK 2 messages /);
});

test('commands that come together are answered in order, each to its end', async (t) => {
  const { dial } = await startServer(t, { drop: twoMessages() });
  const client = dial();
  client.send(
    `${LOGIN.join('\r\n')}\r\nSTAT\r\nRETR 1\r\nDELE 1\r\nbad\r\nRETR 1\r\nRETR 2\r\nUIDL\r\nQUIT\r\nNOOP\r\n`,
  );
  assert.deepEqual(await client.rest(), [
    ...['+OK mail.test is ready', '+OK', `+OK 2 messages (${FIRST.length + SECOND.length} octets)`],
    ...[`+OK 2 ${FIRST.length + SECOND.length}`],
    ...['+OK', 'Subject: one', '', 'Hello', '..dot', 'end', '.'],
    ...[
      '+OK The message is marked as deleted',
      '-ERR The command is unknown',
      '-ERR There is no such message',
    ],
    ...['+OK', 'Subject: two', '', '1', '2', '3', '.', '+OK 1 messages', '2 7.20', '.', '+OK Good bye'],
  ]);
});

test('a message that cannot be read is refused, and one that cannot be read to its end ends the connection', async (t) => {
  const refusal = { refused: true, code: 'SYS/PERM', text: 'The message could not be read' } as const;
  const drop = createMemoryMaildrop([FIRST, SECOND, FIRST], {
    async *retrieve(index) {
      for (let piece = 0; piece < index; piece++) yield Buffer.from(piece === 0 ? 'a: b\r\n\r\n' : 'x\r\n');
      return refusal;
    },
  });
  const client = await (await startServer(t, { drop })).open();
  for (const number of [1, 2])
    assert.equal(await client.ask(`RETR ${number}`), '-ERR [SYS/PERM] The message could not be read');
  assert.deepEqual(await client.askLong('RETR 3'), ['+OK', 'a: b', '', 'closed']);
});

test('an error of the session says nothing about itself, and is logged', async (t) => {
  const drop = createMemoryMaildrop([FIRST], {
    retrieve: () => {
      throw new Error('secret');
    },
  });
  const { open, lines } = await startServer(t, { drop });
  const client = await open();
  assert.equal(await client.ask('RETR 1'), '-ERR [SYS/PERM] The server failed to process the request');
  assert.equal(lines.length, 1);
  assert.equal(await client.ask('NOOP'), '+OK');
});

test('a maildrop that can no longer be used ends its connection before the next command, however many have come', async (t) => {
  const drop = createMemoryMaildrop([FIRST], {
    retrieve: () => {
      drop.end({ refused: true, code: 'SYS/TEMP', text: 'The mailbox is closed' });
      return Buffer.from(FIRST);
    },
  });
  const client = await (await startServer(t, { drop })).open();
  client.send('RETR 1\r\nNOOP\r\nNOOP\r\nNOOP\r\n');
  assert.match((await client.rest()).join(), /^\+OK,.*,\.,(\+OK,)?-ERR \[SYS\/TEMP\] The mailbox is closed$/);
});

test('a maildrop that can no longer be used ends its connection', async (t) => {
  const { open, drop } = await startServer(t);
  const client = await open();
  drop.end({ refused: true, code: 'SYS/TEMP', text: 'The mailbox is closed' });
  assert.deepEqual(await client.rest(), ['-ERR [SYS/TEMP] The mailbox is closed']);
});
