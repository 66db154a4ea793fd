/** A POP3 client is limited in its time, its sizes, its errors, and in how much it leaves unread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_UNSENT_BYTES } from '../../../src/mail/access/options.ts';
import { sendLines } from '../../../src/mail/pop3/commands/command.ts';
import { DEFAULT_LIMITS } from '../../../src/mail/pop3/options.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createMemoryMaildrop } from '../../support/memory-pop3-session.ts';
import { recordLog } from '../../support/record-log.ts';
import { waitUntil, waitUntilAtRest } from '../../support/wait-until.ts';
import { LOGIN, startServer } from './fixture.ts';

const { loginMs, commandMs, readMs, earlyErrors, commandBytes } = DEFAULT_LIMITS;

test('a client has a minute to log in, however busy it is, and is then left without a word', async (t) => {
  const clock = createFakeClock(0);
  const { greeted, drop } = await startServer(t, { clock });
  const client = await greeted();
  for (let second = 0; second < 50; second += 10) {
    await clock.advance(10_000);
    assert.match((await client.askLong('CAPA')).join(), /^\+OK/);
  }
  client.send('USER');
  await clock.advance(loginMs - 50_000);
  assert.deepEqual(await client.rest(), []);
  await waitUntil(() => drop.openSessions === 0);
});

test('the time to log in also ends an exchange of AUTH', async (t) => {
  const clock = createFakeClock(0);
  const client = (await startServer(t, { clock })).dial();
  await client.line();
  assert.equal(await client.ask('AUTH PLAIN'), '+ ');
  await clock.advance(loginMs);
  assert.deepEqual(await client.rest(), []);
});

test('a client that has logged in may be silent for nearly 10 minutes, and deletes nothing after them', async (t) => {
  const clock = createFakeClock(0);
  const { open, drop } = await startServer(t, { clock, drop: createMemoryMaildrop(['a: b\r\n\r\n']) });
  const client = await open();
  await client.ask('DELE 1');
  await clock.advance(commandMs - 1_000);
  assert.equal(await client.ask('NOOP'), '+OK');
  await clock.advance(commandMs);
  assert.deepEqual(await client.rest(), []);
  await waitUntil(() => !drop.isTaken);
  assert.equal(drop.messages.length, 1);
});

test('a line that is too long is refused once, and what follows it is read', async (t) => {
  const { greeted, open } = await startServer(t);
  const early = await greeted();
  assert.equal(await early.ask('x'.repeat(3 * commandBytes)), '-ERR The line is too long');
  assert.equal(await early.ask(`USER ${'x'.repeat(300)}`), '-ERR This is not the name of a user');
  assert.equal(await early.ask('AUTH PLAIN'), '+ ');
  assert.equal(await early.ask('A'.repeat(12_292)), '-ERR An answer has at most 12288 octets');
  assert.equal(await early.ask(LOGIN[0]), '+OK');
  const client = await open();
  assert.equal(await client.ask('x'.repeat(3 * commandBytes)), '-ERR The line is too long');
  assert.equal(await client.ask('NOOP'), '+OK');
  client.send(`NOOP\r\n${'x'.repeat(commandBytes + 1)}\r\nSTAT\r\n`);
  const answers = [await client.line(), await client.line(), await client.line()];
  assert.deepEqual(answers, ['+OK', '-ERR The line is too long', '+OK 0 0']);
});

test('a client that guesses is ended', async (t) => {
  const { greeted } = await startServer(t);
  const client = await greeted();
  for (let count = 0; count < earlyErrors; count++)
    assert.match(await client.ask(count % 2 === 0 ? 'AUTH PLAIN AGEAYg==' : 'PASS x'), /^-ERR /);
  assert.deepEqual(await client.rest(), ['-ERR [SYS/TEMP] Too many errors']);
});

test('a client that does not read stops the producer of its responses, and is ended in time', async (t) => {
  const clock = createFakeClock(0);
  let produced = 0;
  let isEnded = false;
  const drop = createMemoryMaildrop(['a: b\r\n\r\n'], {
    async *retrieve() {
      try {
        for (;;) {
          produced += 64 * 1024;
          yield Buffer.alloc(64 * 1024, 'x');
        }
      } finally {
        isEnded = true;
      }
    },
  });
  const client = await (await startServer(t, { drop, clock })).open();
  client.socket.pause();
  client.send('RETR 1\r\n');
  await waitUntilAtRest(() => produced);
  // The buffers of both sockets in the kernel take a few megabytes.
  assert.ok(produced >= MAX_UNSENT_BYTES && produced < 16 * 1024 * 1024, `${produced}`);
  assert.equal(isEnded, false);
  await clock.advance(readMs);
  await waitUntil(() => isEnded && !drop.isTaken);
});

test('a client that asks for many messages and reads none gets no more of them', async (t) => {
  const message = Buffer.alloc(64 * 1024, 'x');
  let retrieved = 0;
  const drop = createMemoryMaildrop(['a: b\r\n\r\n'], {
    retrieve() {
      retrieved += message.length;
      return message;
    },
  });
  const client = await (await startServer(t, { drop })).open();
  client.socket.pause();
  client.send('RETR 1\r\n'.repeat(5_000));
  await waitUntilAtRest(() => retrieved);
  assert.ok(retrieved >= MAX_UNSENT_BYTES && retrieved < 16 * 1024 * 1024, `${retrieved}`);
});

test('a listing of 100,000 messages is made while the client reads it', async () => {
  const blocked = Promise.withResolvers<void>();
  let made = 0;
  let sent = 0;
  function* lines() {
    while (made < 100_000) yield `${++made} 7.${made}`;
  }
  const send = (text: string): void => {
    sent += text.length;
  };
  const wire = { send, drain: () => blocked.promise };
  const connection = { wire, context: { limits: DEFAULT_LIMITS, pause: async () => {} } };
  const done = sendLines(connection as never, '+OK', lines());
  await new Promise(setImmediate);
  assert.ok(made < 5_000, `${made}`);
  blocked.resolve();
  assert.equal(await done, 'answered');
  assert.ok(made === 100_000 && sent > 1_000_000);
});

test('a client that sends many commands at once lets others have their turn', async (t) => {
  // Time passes whenever somebody looks at the clock.
  let now = 0;
  const clock = { ...createFakeClock(0), elapsed: () => ++now };
  const commands = 1_000;
  let run = 0;
  let runBefore: number | undefined;
  const drop = createMemoryMaildrop(['a: b\r\n\r\n'], {
    async *retrieve() {
      if (run++ === 0) server.dial();
      yield Buffer.from('a: b\r\n\r\n');
      return undefined;
    },
  });
  const openSession = () => {
    if (run > 0) runBefore ??= run;
    return drop.openSession({ clock, log: recordLog().log });
  };
  const server = await startServer(t, { drop, clock, openSession });
  const client = await server.open();
  client.send(`${'RETR 1\r\n'.repeat(commands)}QUIT\r\n`);
  assert.equal((await client.rest()).at(-1), '+OK Good bye');
  await waitUntil(() => runBefore !== undefined);
  assert.ok(runBefore !== undefined && runBefore < commands, `${runBefore}`);
});

test('closing the listener ends connections, and deletes nothing', async (t) => {
  const { open, listener, drop } = await startServer(t, { drop: createMemoryMaildrop(['a: b\r\n\r\n']) });
  const client = await open();
  await client.ask('DELE 1');
  const closed = listener.close();
  assert.deepEqual(await client.rest(), ['-ERR [SYS/TEMP] mail.test is shutting down']);
  client.socket.destroy();
  await closed;
  assert.equal(drop.messages.length, 1);
});
