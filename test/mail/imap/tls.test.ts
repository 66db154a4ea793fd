import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createCertificateStore } from '../../../src/system/certificates.ts';
import { USER } from '../../support/account-mail.ts';
import { createScramClient } from '../../support/scram-client.ts';
import { EC_PAIR } from '../../system/certificate-pairs.ts';
import { createClient, LOGIN, startServer } from './fixture.ts';

const certificates = createCertificateStore([EC_PAIR]);
const encode = (text: string) => Buffer.from(text).toString('base64');
const decode = (line = '') => Buffer.from(line.replace(/^\+ /, ''), 'base64').toString();

test('a listener begins with TLS, and the session learns the name that the client asked for', async (t) => {
  const { port, sessions } = await startServer(t, { tls: { mode: 'immediate', certificates } });
  const secure = connectTls({
    host: '127.0.0.1',
    port,
    servername: 'mail.test',
    ALPNProtocols: ['imap'],
    rejectUnauthorized: false,
  });
  t.after(() => secure.destroy());
  const client = createClient(secure);
  assert.match(await client.line(), / AUTH=SCRAM-SHA-256-PLUS AUTH=SCRAM-SHA-256 AUTH=PLAIN AUTH=LOGIN\] /);
  assert.equal(secure.alpnProtocol, 'imap');
  assert.match((await client.ask(LOGIN)).join(), /^OK /);
  assert.deepEqual(
    [sessions.client?.tls?.version, sessions.client?.tls?.serverName],
    ['TLSv1.3', 'mail.test'],
  );
  assert.deepEqual(await client.ask('STARTTLS'), ['BAD The user has logged in already']);
});

test('SCRAM with a channel binding logs in, and not when it is bound to another connection', async (t) => {
  const { port } = await startServer(t, { tls: { mode: 'immediate', certificates } });
  const connectTo = async () => {
    const secure = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
    t.after(() => secure.destroy());
    await once(secure, 'secureConnect');
    const client = createClient(secure);
    await client.line();
    return { secure, client };
  };
  const exporterOf = (secure: TLSSocket) =>
    secure.exportKeyingMaterial(32, 'EXPORTER-Channel-Binding', Buffer.alloc(0));
  const bindings: Record<string, (secure: TLSSocket) => Buffer> = {
    'tls-exporter': exporterOf,
    // The certificate of the test is signed with SHA-256.
    'tls-server-end-point': (secure) => createHash('sha256').update(secure.getPeerCertificate().raw).digest(),
  };
  const other = await connectTo();
  for (const [type, bindingOf] of Object.entries(bindings)) {
    for (const isBound of [true, false]) {
      const { secure, client } = await connectTo();
      const binding = isBound ? bindingOf(secure) : exporterOf(other.secure);
      const scram = createScramClient({ ...USER, header: `p=${type},,`, binding });
      const [challenge] = await client.ask(`AUTHENTICATE SCRAM-SHA-256-PLUS ${encode(scram.first)}`);
      client.send(`${encode(scram.final(decode(challenge)))}\r\n`);
      const [answer = ''] = await client.responses();
      if (!isBound) {
        assert.match(answer, /^NO \[AUTHENTICATIONFAILED\] /);
        continue;
      }
      assert.ok(scram.believes(decode(answer)), answer);
      client.send('\r\n');
      assert.match((await client.responses()).join(), /^OK \[CAPABILITY .*\] Logged in$/, type);
    }
  }
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
  const { greeted, sessions } = await startServer(t, { tls: { mode: 'starttls', certificates } });
  const client = await greeted();
  client.send(`a STARTTLS\r\nb ${LOGIN}\r\n`);
  assert.deepEqual(await client.rest(), ['a OK Begin TLS now']);
  assert.equal(sessions.client, undefined);
});
