import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { Refusal } from '../../../src/mail/managesieve/session.ts';
import { createScramClient } from '../../support/scram-client.ts';
import { createClient } from '../imap/fixture.ts';
import { LOGIN, sieveClient, startServer, USER } from './fixture.ts';

const CAPABILITIES = [
  '"IMPLEMENTATION" "Test"',
  '"SIEVE" "fileinto vacation"',
  '"SASL" "SCRAM-SHA-256 PLAIN LOGIN"',
  '"NOTIFY" "mailto"',
  '"EXTLISTS" "urn"',
  '"MAXREDIRECTS" "4"',
  '"UNAUTHENTICATE"',
  '"VERSION" "1.0"',
];
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('the greeting tells the capabilities, which name the owner after a login alone', async (t) => {
  const { port } = await startServer(t);
  const client = sieveClient(createClient(connect({ host: '127.0.0.1', port })));
  t.after(() => client.socket.destroy());
  assert.deepEqual(await client.completed(), [...CAPABILITIES, 'OK "mail.test is ready"']);
  // Capabilities follow a login only when it negotiates a security layer (RFC 5804 section 4, `response-authenticate`).
  assert.deepEqual(await client.run(LOGIN), ['OK "Logged in"']);
  assert.deepEqual(await client.run('capability'), [...CAPABILITIES, `"OWNER" "${USER.username}"`, 'OK']);
  assert.deepEqual(await client.run('UNAUTHENTICATE'), ['OK "Logged out of the account"']);
  assert.deepEqual(await client.run('CAPABILITY'), [...CAPABILITIES, 'OK']);
  assert.deepEqual(await client.run('LISTSCRIPTS'), ['NO "The command needs a login"']);
});

test('a client logs in by SCRAM once it believes the server', async (t) => {
  const { dial } = await startServer(t);
  const client = await dial();
  const scram = createScramClient(USER);
  const read = (line: string) => Buffer.from(line.replaceAll('"', ''), 'base64').toString();
  client.send(`AUTHENTICATE "SCRAM-SHA-256" "${base64(scram.first)}"\r\n`);
  client.send(`"${base64(scram.final(read(await client.line())))}"\r\n`);
  assert.ok(scram.believes(read(await client.line())));
  assert.deepEqual(await client.run('""'), ['OK "Logged in"']);
});

test('a client logs in with an initial response, or answers challenges as strings of either kind', async (t) => {
  const { dial, memory } = await startServer(t);
  const client = await dial();
  client.send('AUTHENTICATE "plain"\r\n');
  assert.equal(await client.line(), '""');
  const answer = base64(`\0${USER.username}\0wrong`);
  assert.deepEqual(await client.run(`{${answer.length}+}\r\n${answer}`), [
    'NO "The user name or the password is wrong"',
  ]);
  client.send('AUTHENTICATE "LOGIN"\r\n');
  assert.equal(await client.line(), `"${base64('Username:')}"`);
  client.send(`"${base64(USER.username)}"\r\n`);
  assert.equal(await client.line(), `"${base64('Password:')}"`);
  assert.deepEqual(await client.run(`"${base64(USER.password)}"`), ['OK "Logged in"']);
  assert.deepEqual(await client.run(LOGIN), ['NO "The user has logged in already"']);
  assert.equal(memory.logins, 2);
});

test('answers that no mechanism has are refused, and the client may try again', async (t) => {
  const { dial, memory } = await startServer(t);
  const client = await dial();
  for (const [command, answer] of [
    ['AUTHENTICATE "GSSAPI"', undefined],
    ['AUTHENTICATE "LOGIN" "YQ=="', undefined],
    ['AUTHENTICATE "PLAIN" "%"', undefined],
    ['AUTHENTICATE "PLAIN" "{"', undefined],
    ['AUTHENTICATE PLAIN', undefined],
    ['AUTHENTICATE', undefined],
    ['AUTHENTICATE "PLAIN"', '"*"'],
    ['AUTHENTICATE "PLAIN"', 'NOOP'],
    ['AUTHENTICATE "PLAIN"', '"a" "b"'],
    ['AUTHENTICATE "PLAIN"', ''],
    ['AUTHENTICATE "PLAIN"', `"${'A'.repeat(13_400)}"`],
    ['AUTHENTICATE "PLAIN"', `"${base64(`other\0${USER.username}\0${USER.password}`)}"`],
  ] as const) {
    client.send(`${command}\r\n`);
    if (answer !== undefined) {
      assert.equal(await client.line(), '""', command);
      client.send(`${answer}\r\n`);
    }
    assert.match((await client.completed()).at(-1) ?? '', /^NO /, `${command} ${answer}`);
  }
  assert.equal(memory.logins, 0);
  assert.deepEqual(await client.run(LOGIN), ['OK "Logged in"']);
});

test('scripts are stored, listed, read, activated, renamed and deleted', async (t) => {
  const { open } = await startServer(t);
  const client = await open();
  assert.deepEqual(await client.run('LISTSCRIPTS'), ['OK']);
  assert.deepEqual(await client.run('HAVESPACE "one" 1001'), [
    'NO (QUOTA/MAXSIZE) "A script has at most 1000 octets"',
  ]);
  assert.deepEqual(await client.run('HAVESPACE "one" 35'), ['OK']);
  assert.deepEqual(await client.run('PUTSCRIPT "one" {7+}\r\nkeep;\r\n'), ['OK']);
  assert.deepEqual(await client.run('PUTSCRIPT {3+}\r\ntwo "discard;"'), ['OK']);
  assert.deepEqual(await client.run('PUTSCRIPT "a\\"b\\\\c" ""'), ['OK']);
  assert.deepEqual(await client.run('SETACTIVE "two"'), ['OK']);
  assert.deepEqual(await client.run('LISTSCRIPTS'), ['"one"', '"two" ACTIVE', '"a\\"b\\\\c"', 'OK']);
  assert.deepEqual(await client.run('GETSCRIPT "one"'), ['{7}\r\nkeep;\r\n', 'OK']);
  assert.deepEqual(await client.run('GETSCRIPT "ONE"'), ['NO (NONEXISTENT) "There is no such script"']);
  assert.deepEqual(await client.run('DELETESCRIPT "two"'), ['NO (ACTIVE) "The script is active"']);
  assert.deepEqual(await client.run('RENAMESCRIPT "two" "one"'), [
    'NO (ALREADYEXISTS) "There is a script with this name"',
  ]);
  assert.deepEqual(await client.run('RENAMESCRIPT "two" "three"'), ['OK']);
  assert.deepEqual(await client.run('SETACTIVE ""'), ['OK']);
  assert.deepEqual(await client.run('DELETESCRIPT "three"'), ['OK']);
});

test('an invalid script is refused with line and column, and a name keeps its octets', async (t) => {
  const { open, memory } = await startServer(t);
  const client = await open();
  const refused = ['NO "line 2, column 1: unknown command \\"invalid\\""'];
  assert.deepEqual(await client.run('PUTSCRIPT "x" {10+}\r\n#\r\ninvalid'), refused);
  assert.deepEqual(await client.run('CHECKSCRIPT "invalid"'), refused);
  assert.deepEqual(await client.run('CHECKSCRIPT "keep;"'), ['OK']);
  assert.equal(memory.scripts.size, 0);
  client.send(Buffer.from('PUTSCRIPT "Se\u0301e \u{1f600}" "keep;"\r\n'));
  assert.deepEqual(await client.completed(), ['OK']);
  assert.deepEqual([...memory.scripts.keys()], ['Se\u0301e \u{1f600}']);
});

test('a connection ends as soon as its login has ended, unless it has another one', async (t) => {
  const { promise: ended, resolve } = Promise.withResolvers<Refusal>();
  const { open } = await startServer(t, { account: { ended } });
  const [client, left] = [await open(), await open()];
  assert.deepEqual(await left.run('UNAUTHENTICATE'), ['OK "Logged out of the account"']);
  resolve({ refused: 'BYE', text: 'The login has ended' });
  assert.deepEqual(await client.rest(), ['BYE "The login has ended"']);
  assert.deepEqual(await left.run('NOOP'), ['OK "Done"']);
});

test('NOOP repeats its tag, and LOGOUT is answered before the connection ends', async (t) => {
  const { dial, memory } = await startServer(t);
  const client = await dial();
  assert.deepEqual(await client.run('NOOP'), ['OK "Done"']);
  assert.deepEqual(await client.run('NOOP "sync 1"'), ['OK (TAG "sync 1") "Done"']);
  assert.deepEqual(await client.run('NOOP {4+}\r\na\r\nb'), ['OK (TAG {4}\r\na\r\nb) "Done"']);
  client.send('LOGOUT\r\nNOOP\r\n');
  assert.deepEqual(await client.rest(), ['OK "Logged out"']);
  assert.equal(memory.openSessions, 0);
});

test('commands that are unknown, malformed or too early are refused', async (t) => {
  const { dial } = await startServer(t);
  const client = await dial();
  for (const command of [
    'FETCH 1',
    '"NOOP"',
    'NOOP "a',
    'NOOP "a"b',
    'NOOP "\\a"',
    'NOOP (a)',
    'NOOP a',
    'NOOP 4294967296',
    'NOOP 01',
    'LOGOUT now',
    'STARTTLS',
    'PUTSCRIPT "a" "keep;"',
    'UNAUTHENTICATE',
    'NOOP {1+}\r\n\xff',
    'NOOP "\xff"',
  ])
    assert.match((await client.run(command)).join(), /^NO "/, command);
});
