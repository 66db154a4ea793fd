/** An IMAP client is limited in its time, its sizes, its errors, and in how much it leaves unread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_UNSENT_BYTES } from '../../../src/mail/access/options.ts';
import { privacyOf } from '../../../src/mail/access/privacy.ts';
import { earlyCapabilities } from '../../../src/mail/imap/capabilities.ts';
import { refusePlaintext } from '../../../src/mail/imap/commands/login.ts';
import { DEFAULT_LIMITS } from '../../../src/mail/imap/options.ts';
import { createEmptyMail } from '../../support/account-mail.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { waitUntil, waitUntilAtRest } from '../../support/wait-until.ts';
import { startServer, type TestClient } from './fixture.ts';

const { loginMs, commandMs, dataBlockMs, keepAliveMs, readMs, earlyErrors } = DEFAULT_LIMITS;

test('a client has 60 s to log in, however busy it is', async (t) => {
  const clock = createFakeClock(0);
  const { greeted, mail } = await startServer(t, { clock });
  const client = await greeted();
  for (let second = 0; second < 50; second += 10) {
    await clock.advance(10_000);
    assert.deepEqual(await client.ask('NOOP'), ['OK NOOP completed']);
  }
  client.send('x LOGIN {3}\r\n');
  assert.equal(await client.line(), '+ OK');
  await clock.advance(loginMs - 50_000);
  assert.deepEqual(await client.rest(), ['* BYE The client took too long']);
  await waitUntil(() => mail.openSessions === 0);
});

test('a client that has logged in may be silent for 30 minutes', async (t) => {
  const clock = createFakeClock(0);
  const client = await (await startServer(t, { clock })).open();
  await clock.advance(30 * 60_000);
  assert.deepEqual(await client.ask('NOOP'), ['OK NOOP completed']);
  await clock.advance(commandMs);
  assert.deepEqual(await client.rest(), ['* BYE The client took too long']);
});

test('a client that stops within a message is ended sooner, and nothing of the message is kept', async (t) => {
  const clock = createFakeClock(0);
  const { open, mail } = await startServer(t, { clock });
  const client = await open();
  assert.deepEqual(await client.ask('APPEND INBOX {9}'), ['+ OK']);
  client.send('123');
  await clock.advance(dataBlockMs);
  assert.deepEqual(await client.rest(), ['* BYE The client took too long']);
  assert.equal(await mail.count('INBOX'), 0);
});

test('an answer in AUTHENTICATE and a line in IDLE are bounded', async (t) => {
  const { greeted, open } = await startServer(t);
  const early = await greeted();
  assert.deepEqual(await early.ask('AUTHENTICATE PLAIN'), ['+ ']);
  early.send(`${'A'.repeat(12_292)}\r\n`);
  assert.deepEqual(await early.responses(), ['BAD [LIMIT] An answer has at most 12288 octets']);
  const client = await open('SELECT INBOX');
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  client.send(`${'x'.repeat(9_000)}\r\n`);
  assert.deepEqual(await client.responses(), ['BAD IDLE ends with DONE']);
  assert.deepEqual(await client.ask('NOOP'), ['OK NOOP completed']);
});

test('a client in IDLE is never ended, and gets a line now and then', async (t) => {
  const clock = createFakeClock(0);
  const client = await (await startServer(t, { clock })).open('SELECT INBOX');
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  for (let hours = 0; hours < 20; hours++) {
    await clock.advance(keepAliveMs);
    assert.equal(await client.line(), '* OK Still here');
  }
  client.send('DONE\r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
});

test('before login a command has at most 64 KiB, and a literal 4 KiB', async (t) => {
  const { greeted } = await startServer(t);
  const client = await greeted();
  const refusal = ['BAD [LIMIT] The command is too large'];
  assert.deepEqual(await client.ask('LOGIN {4097}'), refusal);
  assert.deepEqual(await client.ask(`LOGIN {4097+}\r\n${'x'.repeat(4_097)} {1+}\r\ny`), refusal);
  assert.deepEqual(await client.ask(`LOGIN ${'x'.repeat(65_536)} y`), refusal);
  assert.deepEqual(await client.ask(`LOGIN ${`{4096+}\r\n${'x'.repeat(4_096)} `.repeat(16)}`), refusal);
  assert.deepEqual(await client.ask(`APPEND INBOX {5000+}\r\n${'x'.repeat(5_000)}`), [
    'BAD The command needs a login',
  ]);
  assert.match(
    (await client.ask(`LOGIN {4096+}\r\n${'x'.repeat(4_096)} y`)).join(),
    /^NO \[AUTHENTICATIONFAILED\]/,
  );
});

test('a command has at most 50 levels of lists, however many a client opens', async (t) => {
  const server = await startServer(t);
  const early = await server.greeted();
  assert.match((await early.ask(`SEARCH ${'('.repeat(60_000)}`)).join(), /^BAD /);
  const client = await server.open('SELECT INBOX');
  const nested = (levels: number) => `SEARCH ${'('.repeat(levels)}ALL${')'.repeat(levels)}`;
  assert.match((await client.ask(nested(40))).join(), /OK SEARCH completed$/);
  for (const levels of [60, 30_000]) assert.match((await client.ask(nested(levels))).join(), /^BAD /);
});

test('after login a long set of numbers is read', async (t) => {
  const client = await (await startServer(t)).open('SELECT INBOX');
  const set = Array.from({ length: 15_000 }, (_, index) => index * 2 + 1).join(',');
  assert.ok(set.length > 80_000);
  assert.deepEqual(await client.ask(`UID FETCH ${set} FLAGS`), ['OK UID FETCH completed']);
  assert.deepEqual(await client.ask(`UID FETCH ${set},${set},${set},${set} FLAGS`), [
    'BAD [LIMIT] The command is too large',
  ]);
});

test('a client that guesses is ended', async (t) => {
  const client = (await startServer(t)).dial();
  await client.line();
  for (let count = 0; count < earlyErrors; count++)
    assert.match((await client.ask('LOGIN a b')).join(), /^NO /);
  assert.deepEqual(await client.rest(), ['* BYE Too many errors']);
});

test('a client that does not read stops the producer of its responses, and is ended in time', async (t) => {
  const clock = createFakeClock(0);
  let produced = 0;
  let isEnded = false;
  const line = `* OK ${'x'.repeat(64 * 1024)}\r\n`;
  const mail = await createEmptyMail({
    selected: {
      async *fetch() {
        try {
          for (;;) {
            produced += line.length;
            yield Buffer.from(line);
          }
        } finally {
          isEnded = true;
        }
      },
    },
  });
  const client = await (await startServer(t, { mail, clock })).open('SELECT INBOX');
  client.socket.pause();
  client.send('x FETCH 1:* FLAGS\r\n');
  await waitUntilAtRest(() => produced);
  // The buffers of both sockets in the kernel take a few megabytes.
  const inKernel = 16 * 1024 * 1024;
  assert.ok(produced >= MAX_UNSENT_BYTES && produced < inKernel, `${produced}`);
  assert.equal(isEnded, false);
  await clock.advance(readMs);
  await waitUntil(() => isEnded && mail.openSessions === 0);
});

test('a command that says nothing for long ends when its client has gone, whether it closes or is reset', async (t) => {
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let searches = 0;
  let began = Promise.withResolvers<void>();
  const mail = await createEmptyMail({
    selected: {
      async *search() {
        const end = ends[searches++];
        began.resolve();
        try {
          for (;;) {
            await new Promise(setImmediate);
            yield Buffer.alloc(0);
          }
        } finally {
          end?.resolve();
        }
      },
    },
  });
  const clock = createFakeClock(0);
  const server = await startServer(t, { mail, clock });
  for (const close of [
    ({ socket }: TestClient) => socket.destroy(),
    ({ socket }: TestClient) => socket.resetAndDestroy(),
  ]) {
    const client = await server.open('SELECT INBOX');
    client.send('x SEARCH ALL\r\n');
    await began.promise;
    began = Promise.withResolvers();
    close(client);
  }
  await ends[1]?.promise;
  await waitUntil(async () => {
    await clock.advance(1_000);
    return mail.openSessions === 0;
  });
  await ends[0]?.promise;
});

test('a client that sends more than is read is stopped', async (t) => {
  const search = Promise.withResolvers<void>();
  const mail = await createEmptyMail({
    selected: {
      async *search() {
        await search.promise;
        yield Buffer.from('* SEARCH\r\n');
        return undefined;
      },
    },
  });
  const client = await (await startServer(t, { mail })).open('SELECT INBOX');
  const sentBytes = 32 * 1024 * 1024;
  client.send('x SEARCH ALL\r\n');
  client.send(Buffer.alloc(sentBytes, 'y NOOP\r\n'));
  let before = sentBytes;
  let quietTurns = 0;
  await waitUntil(() => {
    const left = client.socket.writableLength;
    quietTurns = left === before ? quietTurns + 1 : 0;
    before = left;
    return quietTurns === 50;
  });
  const takenBytes = client.socket.bytesWritten - client.socket.writableLength;
  client.socket.destroy();
  search.resolve();
  // The buffers of both sockets in the kernel take a few megabytes.
  assert.ok(takenBytes < sentBytes / 2, `${takenBytes}`);
});

test('closing the listener ends idle connections with BYE', async (t) => {
  const { open: connect, listener } = await startServer(t);
  const client = await connect();
  const idle = await connect('SELECT INBOX');
  assert.deepEqual(await idle.ask('IDLE'), ['+ idling']);
  const closed = listener.close();
  for (const one of [client, idle])
    assert.deepEqual(await one.rest(), ['* BYE [UNAVAILABLE] mail.test is shutting down']);
  client.socket.destroy();
  idle.socket.destroy();
  await closed;
});

test('a password needs TLS, except on loopback', () => {
  const at = (address: string, isEncrypted: boolean) => ({
    client: {
      address,
      tls: isEncrypted ? { version: 'TLSv1.3', cipher: 'x', serverName: undefined } : undefined,
    },
    context: { options: { tls: undefined } },
  });
  for (const [address, isEncrypted, isPrivate] of [
    ['127.0.0.1', false, true],
    ['::1', false, true],
    ['192.0.2.1', true, true],
    ['192.0.2.1', false, false],
    ['2001:db8::1', false, false],
  ] as const) {
    const connection = at(address, isEncrypted);
    assert.equal(privacyOf(connection).isPrivate, isPrivate, address);
    assert.equal(refusePlaintext(connection)?.code, isPrivate ? undefined : 'PRIVACYREQUIRED');
  }
  assert.match(
    earlyCapabilities({ isPrivate: false, offersTls: true, binding: undefined, messageBytes: 1 }),
    / STARTTLS LOGINDISABLED$/,
  );
});
