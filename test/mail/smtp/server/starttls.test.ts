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
  const { dial, sessions, metrics } = await startServer(t, { tls: STARTTLS });
  const inject = async (text: string, gapMs: number): Promise<void> => {
    const client = dial();
    await client.reply();
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

test('a handshake has its time', async (t) => {
  const clock = createFakeClock(0);
  const { dial, sessions } = await startServer(t, { tls: STARTTLS, clock });
  const client = dial();
  await client.reply();
  assert.match(await client.ask('STARTTLS\r\n'), /^220/);
  await clock.advance(29_999);
  assert.equal(sessions.openSessions(), 1);
  await clock.advance(1);
  assert.equal(await client.reply(), 'closed');
  assert.equal(sessions.openSessions(), 0);
});

test('STARTTLS has no argument, and is refused where it is not offered', async (t) => {
  const { dial } = await startServer(t, { tls: STARTTLS });
  const client = dial();
  await client.reply();
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
