import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { createClient, STARTTLS, startServer } from './fixture.ts';

const ENVELOPE = 'MAIL FROM:<evil@sender.example>\r\nRCPT TO:<b@test.example>\r\n';
/** Text that somebody on the way puts between STARTTLS and the handshake of the client. */
const INJECTIONS = [
  'NOOP\r\n',
  'RSET\r\n',
  'EHLO evil.example\r\n',
  `EHLO evil.example\r\n${ENVELOPE}`,
  ENVELOPE,
  `${ENVELOPE}DATA\r\nx\r\n.\r\n`,
  `${ENVELOPE}BDAT 1 LAST\r\nx`,
  'QUIT\r\n',
  'MAIL FR',
  '\r\n',
  '\0',
];
const GAPS_MS = [0, 1, 5, 50];

test('plaintext after STARTTLS is never run as a command, whenever it comes', async (t) => {
  const { greeted, sessions, metrics } = await startServer(t, { tls: STARTTLS });
  const inject = async (text: string, gapMs: number): Promise<void> => {
    const client = await greeted();
    await client.ask('EHLO client.example\r\n');
    if (gapMs === 0) client.send(`STARTTLS\r\n${text}`);
    else client.send('STARTTLS\r\n');
    const reply = await client.reply();
    assert.match(reply, gapMs === 0 ? /^503/ : /^220/);
    await sleep(gapMs);
    if (gapMs > 0) client.send(text);
    await assert.rejects(client.encrypt(), `${JSON.stringify(text)} after ${gapMs} ms`);
    client.socket.destroy();
  };
  await Promise.all(INJECTIONS.flatMap((text) => GAPS_MS.map((gapMs) => inject(text, gapMs))));
  while (sessions.openSessions() > 0) await sleep(1);
  assert.equal(sessions.calls.ehlo, INJECTIONS.length * GAPS_MS.length);
  assert.equal(sessions.calls.mail, 0);
  const text = await metrics();
  assert.match(text, /smtp_refusals_total\{listener="smtp",reason="pipelining"\} 11/);
  assert.match(text, /smtp_refusals_total\{listener="smtp",reason="tls_handshake"\} 33/);
});

test('STARTTLS encrypts, and forgets what was said before', async (t) => {
  const { greeted, sessions } = await startServer(t, { tls: STARTTLS });
  const plain = await greeted();
  assert.match(await plain.ask('EHLO client.example\r\n'), /250 STARTTLS/);
  assert.match(await plain.ask('MAIL FROM:<a@sender.example>\r\n'), /^250/);
  assert.match(await plain.ask('STARTTLS\r\n'), /^220 2\.0\.0/);
  const client = await plain.encrypt();
  assert.match(await client.ask('RCPT TO:<b@test.example>\r\n'), /^503/);
  assert.match(await client.ask('MAIL FROM:<a@sender.example>\r\n'), /^503/);
  const offers = await client.ask('EHLO client.example\r\n');
  assert.match(offers, /REQUIRETLS/);
  assert.doesNotMatch(offers, /STARTTLS/);
  assert.match(await client.ask('STARTTLS\r\n'), /^503/);
  client.send('MAIL FROM:<a@sender.example> REQUIRETLS\r\nRCPT TO:<b@test.example>\r\nBDAT 3 LAST\r\nabc');
  assert.match(await client.reply(), /^250/);
  assert.match(await client.reply(), /^250/);
  assert.match(await client.reply(), /^250/);
  const [message] = sessions.messages;
  assert.equal(message?.sender.requireTls, true);
  assert.equal(message?.client.protocol, 'ESMTPS');
  assert.equal(message?.client.tls?.version, 'TLSv1.3');
  assert.equal(message?.client.tls?.serverName, 'mx.test');
  client.socket.destroy();
});

test('a handshake has its time', async (t) => {
  const clock = createFakeClock(0);
  const { greeted, sessions } = await startServer(t, { tls: STARTTLS, clock });
  const client = await greeted();
  assert.match(await client.ask('STARTTLS\r\n'), /^220/);
  await clock.advance(29_999);
  assert.equal(sessions.openSessions(), 1);
  await clock.advance(1);
  assert.equal(await client.reply(), 'closed');
  assert.equal(sessions.openSessions(), 0);
});

test('STARTTLS has no argument, and is refused where it is not offered', async (t) => {
  const { greeted } = await startServer(t, { tls: STARTTLS });
  const client = await greeted();
  assert.match(await client.ask('STARTTLS now\r\n'), /^501/);
});

test('a listener may begin with TLS', async (t) => {
  const { port } = await startServer(t, { tls: { ...STARTTLS, mode: 'immediate' } });
  const secure = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
  const client = createClient(secure);
  assert.match(await client.reply(), /^220/);
  assert.match(await client.ask('EHLO client.example\r\n'), /REQUIRETLS/);
  secure.destroy();
});
