import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { PasswordCredentials } from '../../../../src/mail/sasl/exchange.ts';
import type { Reply } from '../../../../src/mail/smtp/server/session.ts';
import type { Clock } from '../../../../src/system/clock.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { createScramSession } from '../../../support/scram-client.ts';
import { STARTTLS, startServer, type TestClient } from './fixture.ts';

const REFUSED: Reply = { code: 535, status: '5.7.8', text: 'No' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const PLAIN = base64('\0ann\0secret');

async function start(t: TestContext, clock: Clock = createFakeClock(0)) {
  const asked: string[] = [];
  async function login({ username = 'ann', password }: Partial<PasswordCredentials>) {
    asked.push(`${username} ${password}`);
    if (password === 'broken') throw new Error('a bug');
    return password === 'secret' ? undefined : REFUSED;
  }
  const server = await startServer(t, {
    clock,
    tls: STARTTLS,
    submission: { maxHoldSeconds: 3_600 },
    hooks: {
      logins: {
        login,
        loggedIn: () => ({}),
        ...createScramSession({ username: 'ann', password: 'secret' }, login),
      },
    },
  });
  return { ...server, asked };
}

async function encrypted({ greeted }: Awaited<ReturnType<typeof start>>): Promise<TestClient> {
  const client = await greeted();
  await client.ask('STARTTLS\r\n');
  const secure = await client.encrypt();
  await secure.ask('EHLO client.example\r\n');
  return secure;
}

/** Sends the lines one after the other, and returns the last reply. */
async function dialogue(client: TestClient, lines: readonly string[]): Promise<string> {
  let reply = '';
  for (const line of lines) reply = await client.ask(`${line}\r\n`);
  return reply;
}

const LOGINS: Readonly<Record<string, readonly string[]>> = {
  'PLAIN at once': [`AUTH PLAIN ${PLAIN}`],
  'PLAIN after a challenge': ['AUTH PLAIN', PLAIN],
  'LOGIN at once, as Outlook does': [`AUTH LOGIN ${base64('ann')}`, base64('secret')],
  'LOGIN after challenges': ['auth login', base64('ann'), base64('secret')],
};

for (const [what, lines] of Object.entries(LOGINS))
  test(`a client logs in with ${what}`, async (t) => {
    const server = await start(t);
    const client = await encrypted(server);
    assert.match(await dialogue(client, lines), /^235 2\.7\.0 /);
    assert.deepEqual(server.asked, ['ann secret']);
    await client.ask('MAIL FROM:<ann@a.example>\r\n');
    await client.ask('RCPT TO:<bob@b.example>\r\n');
    await client.ask('DATA\r\n');
    assert.match(await client.ask('x\r\n.\r\n'), /^250/);
    assert.equal(server.sessions.messages[0]?.client.protocol, 'ESMTPSA');
    client.socket.destroy();
  });

const REFUSALS: Readonly<Record<string, readonly [lines: readonly string[], code: RegExp]>> = {
  'a wrong password': [[`AUTH PLAIN ${base64('\0ann\0wrong')}`], /^535 5\.7\.8/],
  'an internal error': [[`AUTH PLAIN ${base64('\0ann\0broken')}`], /^451 4\.3\.0/],
  'no mechanism': [['AUTH'], /^501 5\.5\.4/],
  'an unknown mechanism': [['AUTH CRAM-MD5'], /^504 5\.5\.4/],
  'a word too many': [[`AUTH PLAIN ${PLAIN} more`], /^501 5\.5\.4/],
  'an answer that is not base64': [['AUTH PLAIN', 'ann!secret'], /^501 5\.5\.2/],
  'half an answer': [['AUTH PLAIN', PLAIN.slice(0, -1)], /^501 5\.5\.2/],
  'an empty answer': [['AUTH PLAIN ='], /^501 5\.5\.2/],
  'another identity': [[`AUTH PLAIN ${base64('bob\0ann\0secret')}`], /^535 5\.7\.8/],
  'a control character in the name': [[`AUTH PLAIN ${base64('\0an\nn\0secret')}`], /^501 5\.5\.2/],
  'a name that is not UTF-8': [
    [`AUTH LOGIN ${Buffer.from([0xff, 0xfe]).toString('base64')}`],
    /^501 5\.5\.2/,
  ],
  'a client that gives up': [['AUTH LOGIN', '*'], /^501 5\.0\.0/],
};

for (const [what, [lines, code]] of Object.entries(REFUSALS))
  test(`a login is refused with ${what}, and the next one succeeds`, async (t) => {
    const client = await encrypted(await start(t));
    assert.match(await dialogue(client, lines), code);
    assert.match(await client.ask(`AUTH PLAIN ${PLAIN}\r\n`), /^235/);
    client.socket.destroy();
  });

test('a channel binding is offered only where one works, and a type that does not is no wrong password', async (t) => {
  const { greeted } = await start(t);
  async function begin(session?: Buffer) {
    const client = await greeted();
    await client.ask('STARTTLS\r\n');
    const secure = await client.encrypt({ maxVersion: 'TLSv1.2', ...(session && { session }) });
    return {
      secure,
      socket: secure.socket as TLSSocket,
      greeting: await secure.ask('EHLO client.example\r\n'),
    };
  }
  const full = await begin();
  assert.match(full.greeting, /AUTH SCRAM-SHA-256-PLUS /);
  const unique = base64('p=tls-unique,,n=ann,r=abc');
  assert.match(await full.secure.ask(`AUTH SCRAM-SHA-256-PLUS ${unique}\r\n`), /^504 5\.5\.4/);
  const resumed = await begin(full.socket.getSession());
  assert.ok(resumed.socket.isSessionReused());
  assert.match(resumed.greeting, /AUTH SCRAM-SHA-256 PLAIN/);
});

test('a login comes once, after EHLO, outside of a message, over TLS, and alone', async (t) => {
  const server = await start(t);
  const plain = await server.greeted();
  assert.match(await plain.ask(`AUTH PLAIN ${PLAIN}\r\n`), /^503/);
  await plain.ask('EHLO client.example\r\n');
  assert.match(await plain.ask(`AUTH PLAIN ${PLAIN}\r\n`), /^538 5\.7\.11/);
  const client = await encrypted(server);
  await client.ask('MAIL FROM:<ann@a.example>\r\n');
  assert.match(await client.ask(`AUTH PLAIN ${PLAIN}\r\n`), /^503/);
  await client.ask('RSET\r\n');
  assert.match(await client.ask(`AUTH PLAIN ${PLAIN}\r\n`), /^235/);
  assert.match(await client.ask(`AUTH PLAIN ${PLAIN}\r\n`), /^503/);
  const hasty = await encrypted(server);
  assert.match(await hasty.ask(`AUTH PLAIN ${PLAIN}\r\nMAIL FROM:<ann@a.example>\r\n`), /^503/);
  assert.equal(await hasty.reply(), 'closed');
  assert.deepEqual(server.asked, ['ann secret']);
});

test('a long answer, and too many wrong ones, end the connection', async (t) => {
  const server = await start(t);
  const long = await encrypted(server);
  await long.ask('AUTH PLAIN\r\n');
  assert.match(await long.ask(`${'A'.repeat(12_288)}\r\n`), /^501/, 'it is as long as an answer may be');
  await long.ask('AUTH PLAIN\r\n');
  assert.match(await long.ask(`${'A'.repeat(12_292)}\r\n`), /^500/);
  assert.equal(await long.reply(), 'closed');
  const guessing = await encrypted(server);
  for (let guess = 1; guess < 20; guess++)
    assert.match(await guessing.ask(`AUTH PLAIN ${base64(`\0ann\0${guess}`)}\r\n`), /^535/);
  await guessing.ask(`AUTH PLAIN ${base64('\0ann\0x')}\r\n`);
  assert.match(await guessing.reply(), /^421/);
});

test('a client has a minute until its login, and its message is not read before', async (t) => {
  const clock = createFakeClock(0);
  const server = await start(t, clock);
  const client = await encrypted(server);
  await clock.advance(50_000);
  assert.match(await client.ask('NOOP\r\n'), /^250/);
  await client.ask('AUTH PLAIN\r\n');
  await clock.advance(10_000);
  assert.match(await client.reply(), /^421 4\.4\.2/);
  const known = await encrypted(server);
  await known.ask(`AUTH PLAIN ${PLAIN}\r\n`);
  await clock.advance(4 * 60_000);
  assert.match(await known.ask('NOOP\r\n'), /^250/);
  known.socket.destroy();
  const stranger = await encrypted(server);
  assert.match(await stranger.ask('BDAT 1000000\r\n'), /^530 5\.7\.0/);
  assert.equal(await stranger.reply(), 'closed');
});

test('a listener for mail of strangers offers no login', async (t) => {
  const { greeted } = await startServer(t, { tls: STARTTLS });
  const client = await greeted();
  assert.doesNotMatch(await client.ask('EHLO client.example\r\n'), /AUTH|DSN|FUTURERELEASE/);
  assert.match(await client.ask(`AUTH PLAIN ${PLAIN}\r\n`), /^502/);
  assert.match(await client.ask('MAIL FROM:<a@b.example> RET=FULL\r\n'), /^555/);
});
