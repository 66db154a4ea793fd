import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { createCertificateStore } from '../../../src/system/certificates.ts';
import { EC_PAIR } from '../../system/certificate-pairs.ts';
import { createClient, LOGIN, startServer } from './fixture.ts';

const certificates = createCertificateStore([EC_PAIR]);

test('a listener begins with TLS, and the session learns the name that the client asked for', async (t) => {
  const { port, mail } = await startServer(t, { tls: { mode: 'immediate', certificates } });
  const secure = connectTls({
    host: '127.0.0.1',
    port,
    servername: 'mail.test',
    ALPNProtocols: ['imap'],
    rejectUnauthorized: false,
  });
  t.after(() => secure.destroy());
  const client = createClient(secure);
  assert.match(await client.line(), /^\* OK \[CAPABILITY .* AUTH=PLAIN AUTH=LOGIN\] /);
  assert.equal(secure.alpnProtocol, 'imap');
  assert.match((await client.ask(LOGIN)).join(), /^OK /);
  assert.deepEqual([mail.client?.tls?.version, mail.client?.tls?.serverName], ['TLSv1.3', 'mail.test']);
  assert.deepEqual(await client.ask('STARTTLS'), ['BAD The user has logged in already']);
});

test('STARTTLS encrypts, and is not offered again', async (t) => {
  const { dial } = await startServer(t, { tls: { mode: 'starttls', certificates } });
  const plain = dial();
  assert.match(await plain.line(), / STARTTLS /);
  assert.deepEqual(await plain.ask('STARTTLS'), ['OK Begin TLS now']);
  plain.socket.removeAllListeners('data');
  const secure = connectTls({ socket: plain.socket, servername: 'mail.test', rejectUnauthorized: false });
  await once(secure, 'secureConnect');
  const client = createClient(secure);
  assert.doesNotMatch((await client.ask('CAPABILITY')).join(), /STARTTLS/);
  assert.deepEqual(await client.ask('STARTTLS'), ['BAD TLS is not available']);
  assert.match((await client.ask(LOGIN)).join(), /^OK /);
});

test('what came in plaintext behind STARTTLS is never run', async (t) => {
  const { dial, mail } = await startServer(t, { tls: { mode: 'starttls', certificates } });
  const client = dial();
  await client.line();
  client.send(`a STARTTLS\r\nb ${LOGIN}\r\n`);
  assert.deepEqual(await client.rest(), ['a OK Begin TLS now']);
  assert.equal(mail.client, undefined);
});
