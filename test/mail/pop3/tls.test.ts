import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { Client } from '../../../src/mail/connection/client.ts';
import { capabilitiesOf, lastingCapabilities } from '../../../src/mail/pop3/capabilities.ts';
import { refusePlaintext } from '../../../src/mail/pop3/commands/login.ts';
import type { EarlyConnection } from '../../../src/mail/pop3/connection-state.ts';
import { DEFAULT_LIMITS } from '../../../src/mail/pop3/options.ts';
import { createCertificateStore } from '../../../src/system/certificates.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { EC_PAIR } from '../../system/certificate-pairs.ts';
import { createClient, LOGIN, startServer } from './fixture.ts';

const certificates = createCertificateStore([EC_PAIR]);
const { handshakeMs } = DEFAULT_LIMITS;
const starttls = { mode: 'starttls', certificates } as const;

/** Puts TLS on a plain connection. */
async function upgrade(t: TestContext, socket: Socket) {
  socket.removeAllListeners('data');
  const secure = connectTls({ socket, servername: 'mail.test', rejectUnauthorized: false });
  t.after(() => secure.destroy());
  await once(secure, 'secureConnect');
  return createClient(secure);
}

test('a listener begins with TLS', async (t) => {
  const { port, drop } = await startServer(t, { tls: { mode: 'immediate', certificates } });
  const secure = connectTls({
    ...{ host: '127.0.0.1', port, servername: 'mail.test', ALPNProtocols: ['pop3'] },
    rejectUnauthorized: false,
  });
  t.after(() => secure.destroy());
  const client = createClient(secure);
  assert.match(await client.line(), /^\+OK /);
  assert.equal(secure.alpnProtocol, 'pop3');
  assert.doesNotMatch((await client.askLong('CAPA')).join(), /STLS/);
  for (const command of LOGIN) assert.match(await client.ask(command), /^\+OK/);
  assert.deepEqual([drop.client?.tls?.version, drop.client?.tls?.serverName], ['TLSv1.3', 'mail.test']);
});

test('STLS encrypts, is not offered again, and what was said before is forgotten', async (t) => {
  const { greeted } = await startServer(t, { tls: starttls });
  const plain = await greeted();
  assert.match((await plain.askLong('CAPA')).join(), /,STLS,/);
  await plain.ask(LOGIN[0]);
  assert.equal(await plain.ask('STLS'), '+OK Begin TLS now');
  const client = await upgrade(t, plain.socket);
  assert.equal(await client.ask(LOGIN[1]), '-ERR USER comes first');
  assert.doesNotMatch((await client.askLong('CAPA')).join(), /STLS/);
  assert.equal(await client.ask('STLS'), '-ERR TLS is not available');
  for (const command of LOGIN) assert.match(await client.ask(command), /^\+OK/);
});

const injections: readonly [string, string][] = [
  ['a command behind STLS', 'STLS\r\nNOOP\r\n'],
  ['a login behind STLS', `STLS\r\n${LOGIN.join('\r\n')}\r\n`],
  ['a name behind STLS', `STLS\r\n${LOGIN[0]}\r\n`],
  ['AUTH behind STLS', 'STLS\r\nAUTH PLAIN AGEAYg==\r\n'],
  ['half a command behind STLS', `STLS\r\n${LOGIN[0]}`],
  ['QUIT behind STLS', 'STLS\r\nQUIT\r\n'],
  ['STLS twice', 'STLS\r\nSTLS\r\n'],
  ['bare line ends', 'STLS\nCAPA\n'],
  ['commands around STLS', `CAPA\r\n${LOGIN[0]}\r\nSTLS\r\n${LOGIN[1]}\r\n`],
  ['STLS in lower case', 'stls\r\nCAPA\r\n'],
  ['an empty line behind STLS', 'STLS\r\n\r\n'],
];

for (const [name, sent] of injections) {
  test(`what came in plaintext is never run: ${name}`, async (t) => {
    const clock = createFakeClock(0);
    const { greeted, drop } = await startServer(t, { tls: starttls, clock });
    const client = await greeted();
    client.send(sent);
    for (let line = await client.line(); line !== '+OK Begin TLS now'; line = await client.line())
      assert.match(line, /^(?:\+OK|[A-Z]|\.)/);
    // Too few octets for a handshake are not refused before the client had time for the others.
    await waitUntil(async () => {
      await clock.advance(handshakeMs);
      return drop.openSessions === 0;
    });
    assert.deepEqual(await client.rest(), []);
    assert.deepEqual(drop.logins, []);
  });
}

test('a password needs TLS, except on loopback', () => {
  const at = (address: string, tls: Client['tls']) => ({
    socket: new Socket(),
    client: { address, tls },
    context: { options: { tls: starttls, implementation: 'Test' } },
  });
  const encrypted = { version: 'TLSv1.3', cipher: 'x', serverName: undefined };
  for (const [client, isPrivate] of [
    [at('127.0.0.1', undefined), true],
    [at('::1', undefined), true],
    [at('192.0.2.1', encrypted), true],
    [at('192.0.2.1', undefined), false],
    [at('2001:db8::1', undefined), false],
  ] as const) {
    assert.equal(refusePlaintext(client) === undefined, isPrivate, client.client.address);
    const connection = { ...client, session: {} } as EarlyConnection;
    const offered = capabilitiesOf(connection);
    assert.equal(offered.includes('USER'), isPrivate);
    assert.equal(
      offered.some((name) => name.startsWith('SASL')),
      isPrivate,
    );
    assert.equal(offered.includes('STLS'), client.client.tls === undefined);
    assert.equal(lastingCapabilities(connection).includes('STLS'), false);
  }
});
