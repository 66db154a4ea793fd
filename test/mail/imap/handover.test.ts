/** Connections that are handed over to the thread of their account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSlice } from '../../../src/system/slices.ts';
import { createEmptyMail } from '../../support/account-mail.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createHandovers } from '../../support/handovers.ts';
import { recordLog } from '../../support/record-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createImapSessions, LOGIN, startServer } from './fixture.ts';

test('what a client sends behind its login is served in its order', async (t) => {
  const client = (await startServer(t)).dial();
  await client.line();
  client.send(`a ${LOGIN}\r\nb SELECT INBOX\r\nc APPEND INBOX {6+}\r\nA: b\r\n\r\nd NOOP\r\ne LOG`);
  client.send('OUT\r\n');
  const tagged = (await client.rest()).filter((line) => /^[a-e] /.test(line));
  assert.deepEqual(
    tagged.map((line) => line.slice(0, 4)),
    ['a OK', 'b OK', 'c OK', 'd OK', 'e OK'],
  );
});

for (const behind of ['', 'b SELECT INBOX\r\nc LOGOUT\r\n'])
  test(`a client that sends ${behind ? 'its last commands' : 'its last octets'} while it logs in is served to its end`, async (t) => {
    const mail = await createEmptyMail();
    const clock = createFakeClock(0);
    const sessions = createImapSessions(mail, { clock, log: recordLog().log });
    const openSession = () => {
      const session = sessions.openSession();
      return {
        ...session,
        async login(credentials: Parameters<typeof session.login>[0]) {
          // The end of the client arrives meanwhile.
          for (let turn = 0; turn < 100; turn++) await nextSlice();
          return await session.login(credentials);
        },
      };
    };
    const client = await (await startServer(t, { mail, clock, openSession })).greeted();
    client.send(`a ${LOGIN}\r\n${behind}`);
    client.socket.end();
    const tagged = (await client.rest()).filter((line) => /^[a-c] /.test(line));
    assert.deepEqual(
      tagged.map((line) => line.slice(0, 4)),
      behind ? ['a OK', 'b OK', 'c OK'] : ['a OK'],
    );
    await waitUntil(() => sessions.users.size === 0 && mail.openSessions === 0);
  });

test('a client that ends behind COMPRESS ends alone', async (t) => {
  const server = await startServer(t);
  const other = await server.open('SELECT INBOX');
  const client = await server.open();
  // The server has read the end of the client before it comes to the command.
  client.send(`${'a NOOP\r\n'.repeat(7_000)}b COMPRESS DEFLATE\r\nxxxx`);
  client.socket.end();
  assert.match((await client.rest()).slice(6_990).join(), /b OK DEFLATE active/);
  assert.deepEqual(await other.ask('NOOP'), ['OK NOOP completed']);
  await waitUntil(() => server.sessions.users.size === 1);
});

test('STARTTLS and logins are refused after a login', async (t) => {
  const client = await (await startServer(t)).open();
  for (const command of ['STARTTLS', LOGIN, 'AUTHENTICATE PLAIN'])
    assert.deepEqual(await client.ask(command), ['BAD The user has logged in already']);
});

test('when the thread of the account has died, its connections end with BYE, and others stay', async (t) => {
  const handovers = createHandovers();
  const server = await startServer(t, { handovers });
  const other = await (await startServer(t)).open('SELECT INBOX');
  const early = await server.greeted();
  const waiting = await server.open();
  const idle = await server.open('SELECT INBOX');
  await idle.ask('IDLE');
  const compressed = await server.open();
  await compressed.compress();
  await compressed.ask('NOOP');
  handovers.endThread();
  for (const client of [waiting, idle, compressed])
    assert.deepEqual(await client.rest(), ['* BYE [UNAVAILABLE] The mailbox is not available at the moment']);
  assert.deepEqual(await early.ask('NOOP'), ['OK NOOP completed']);
  assert.deepEqual(await other.ask('NOOP'), ['OK NOOP completed']);
});

test('a connection ends with the reason of its account, whatever it does', async (t) => {
  const mail = await createEmptyMail({
    selected: {
      async *search() {
        for (;;) {
          await new Promise(setImmediate);
          yield Buffer.alloc(0);
        }
      },
      async *fetch() {
        for (;;) yield Buffer.alloc(64 * 1024);
      },
    },
  });
  const server = await startServer(t, { mail });
  const waiting = await server.open();
  const idle = await server.open('SELECT INBOX');
  await idle.ask('IDLE');
  const appending = await server.open();
  await appending.ask('APPEND INBOX {5}');
  const searching = await server.open('SELECT INBOX');
  searching.send('x SEARCH ALL\r\n');
  const stalled = await server.open('SELECT INBOX');
  stalled.socket.pause();
  stalled.send('x FETCH 1:* FLAGS\r\n');
  for (const user of server.sessions.users) user.end({ code: 'UNAVAILABLE', text: 'The mailbox is closed' });
  for (const client of [waiting, idle, appending, searching])
    assert.deepEqual(await client.rest(), ['* BYE [UNAVAILABLE] The mailbox is closed']);
  await waitUntil(() => mail.openSessions === 0);
});

test('an account that ends its sessions before a connection was handed over tells its client', async (t) => {
  const server = await startServer(t);
  const client = await server.greeted();
  client.send(`a ${LOGIN}\r\n`);
  await waitUntil(() => server.sessions.users.size > 0);
  for (const user of server.sessions.users) user.end({ code: 'UNAVAILABLE', text: 'The mailbox is closed' });
  const lines = await client.rest();
  assert.equal(lines.at(-1), '* BYE [UNAVAILABLE] The mailbox is closed');
  await waitUntil(() => server.mail.openSessions === 0);
});
