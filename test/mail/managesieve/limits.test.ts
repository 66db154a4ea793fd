/** A ManageSieve client needs TLS before its login, and its time, its sizes and its errors are limited. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { DEFAULT_LIMITS } from '../../../src/mail/managesieve/options.ts';
import { createCertificateStore } from '../../../src/system/certificates.ts';
import { AppError } from '../../../src/system/errors.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { EC_PAIR } from '../../system/certificate-pairs.ts';
import { createClient } from '../imap/fixture.ts';
import { LOGIN, sieveClient, startServer } from './fixture.ts';

const certificates = createCertificateStore([EC_PAIR]);
const tls = { mode: 'starttls', certificates } as const;
const { loginMs, commandMs, earlyErrors, commandBytes, earlyCommandBytes, discardedBytes } = DEFAULT_LIMITS;

test('STARTTLS encrypts, and the capabilities are sent again without it', async (t) => {
  const { dial } = await startServer(t, { tls });
  const plain = await dial();
  assert.match((await plain.run('CAPABILITY')).join('\n'), /^"STARTTLS"$/m);
  assert.deepEqual(await plain.run('STARTTLS'), ['OK "Begin TLS now"']);
  plain.socket.removeAllListeners('data');
  const secure = connectTls({
    socket: plain.socket,
    ALPNProtocols: ['managesieve'],
    rejectUnauthorized: false,
  });
  await once(secure, 'secureConnect');
  const client = sieveClient(createClient(secure));
  const again = await client.completed();
  assert.equal(again.at(-1), 'OK "TLS is active"');
  assert.ok(again.includes('"VERSION" "1.0"') && !again.includes('"STARTTLS"'));
  assert.deepEqual(await client.run('STARTTLS'), ['NO "TLS is not available"']);
  assert.deepEqual(await client.run(LOGIN), ['OK "Logged in"']);
});

test('what came in plaintext behind STARTTLS is never run', async (t) => {
  const { dial, memory } = await startServer(t, { tls });
  for (const injected of [`${LOGIN}\r\n`, 'NOOP\r\n', `{9+}\r\n${LOGIN}\r\n`]) {
    const client = await dial();
    client.send(`STARTTLS\r\n${injected}`);
    assert.deepEqual(await client.rest(), ['OK "Begin TLS now"'], injected);
  }
  assert.equal(memory.logins, 0);
});

test('a client has 60 s to log in, and then 30 minutes for each command', async (t) => {
  const clock = createFakeClock(0);
  const { dial, open } = await startServer(t, { clock });
  const early = await dial();
  await clock.advance(loginMs);
  assert.deepEqual(await early.rest(), ['BYE "The client took too long"']);
  const client = await open();
  await clock.advance(30 * 60_000);
  assert.deepEqual(await client.run('NOOP'), ['OK "Done"']);
  assert.deepEqual(await client.run('UNAUTHENTICATE'), ['OK "Logged out of the account"']);
  await clock.advance(loginMs - 1);
  assert.deepEqual(await client.run(LOGIN), ['OK "Logged in"']);
  assert.deepEqual(await client.run('UNAUTHENTICATE'), ['OK "Logged out of the account"']);
  const again = await open();
  await clock.advance(loginMs);
  assert.deepEqual(await client.rest(), ['BYE "The client took too long"']);
  await clock.advance(commandMs - loginMs);
  assert.deepEqual(await again.rest(), ['BYE "The client took too long"']);
});

test('a client that guesses is ended', async (t) => {
  const client = await (await startServer(t)).dial();
  client.send('X\r\n'.repeat(earlyErrors + 1));
  const lines = await client.rest();
  assert.deepEqual([lines.length, lines.at(-1)], [earlyErrors + 1, 'BYE "Too many errors"']);
});

test('a command that is too large is read to its end and refused, and a far larger literal ends the connection', async (t) => {
  const { open, dial, memory } = await startServer(t);
  const tooLarge = ['NO (QUOTA/MAXSIZE) "The command is too large"'];
  const client = await open();
  assert.deepEqual(
    await client.run(`PUTSCRIPT "a" {${commandBytes}+}\r\n${'#'.repeat(commandBytes)}`),
    tooLarge,
  );
  assert.deepEqual(await client.run(`NOOP "${'a'.repeat(commandBytes)}"`), tooLarge);
  assert.deepEqual(await client.run('NOOP'), ['OK "Done"']);
  client.send(`PUTSCRIPT "a" {${discardedBytes + 1}+}\r\n`);
  assert.deepEqual(await client.rest(), ['BYE "The literal is too large"']);
  const early = await dial();
  assert.deepEqual(await early.run(`NOOP "${'a'.repeat(earlyCommandBytes)}"`), tooLarge);
  early.send(`NOOP {${earlyCommandBytes}+}\r\n`);
  assert.deepEqual(await early.rest(), ['BYE "The literal is too large"']);
  const endless = await dial();
  endless.send('NOOP {99999999999999999999+}\r\n');
  assert.deepEqual(await endless.rest(), ['BYE "The literal is too large"']);
  assert.equal(memory.scripts.size, 0);
});

test('a session that fails or is busy refuses the command, and a BYE ends the connection', async (t) => {
  const { open, lines } = await startServer(t, {
    account: {
      check: () => Promise.reject(new Error('a bug')),
      list: () => Promise.reject(new AppError('unavailable', 'The server is busy')),
      get: async () => ({ refused: 'BYE', text: 'The account was closed' }),
    },
  });
  const client = await open();
  assert.deepEqual(await client.run('CHECKSCRIPT ""'), [
    'NO (TRYLATER) "The server failed to process the command"',
  ]);
  assert.deepEqual(await client.run('LISTSCRIPTS'), ['NO (TRYLATER) "The server is busy"']);
  assert.deepEqual(await client.run('GETSCRIPT "a"'), ['BYE "The account was closed"']);
  assert.equal(lines.length, 1);
});

test('a listener that closes says so to its clients', async (t) => {
  const { open, listener } = await startServer(t);
  const client = await open();
  const closed = listener.close(1_000);
  assert.deepEqual(await client.rest(), ['BYE (TRYLATER) "mail.test is shutting down"']);
  await closed;
});
