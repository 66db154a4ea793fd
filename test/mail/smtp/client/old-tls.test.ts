/** Servers whose TLS is out of date: an expired certificate, and a version of the protocol that nobody should use. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createSecureContext, TLSSocket } from 'node:tls';
import { openSmtp } from '../../../../src/mail/smtp/client/open.ts';
import type { SmtpOptions } from '../../../../src/mail/smtp/client/options.ts';
import { issueCertificate } from '../../../support/certificate-chain.ts';
import { listenOnLoopback } from '../../../support/loopback.ts';
import { optionsFor, worldWith } from './session-fixture.ts';

const HOST = 'mx.example';
const DAY_MS = 86_400_000;
const authority = await issueCertificate({ isAuthority: true });

type Server = { expiresAt?: number; version?: 'TLSv1' | 'TLSv1.2' };

/** Starts a server that offers STARTTLS with a certificate of the authority. Returns its port. */
async function startServer(t: TestContext, { expiresAt = Date.now() + DAY_MS, version = 'TLSv1.2' }: Server) {
  const validFrom = expiresAt - 2 * DAY_MS;
  const { pem, key } = await issueCertificate({ name: HOST, issuer: authority, validFrom, expiresAt });
  const ciphers = 'ALL:@SECLEVEL=0';
  const secureContext = createSecureContext({
    cert: pem,
    key,
    ciphers,
    minVersion: version,
    maxVersion: version,
  });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 mx.example ESMTP\r\n');
    socket.on('data', function answer(line) {
      if (line.toString().startsWith('EHLO')) return void socket.write('250-mx.example\r\n250 STARTTLS\r\n');
      socket.off('data', answer);
      socket.write('220 go\r\n');
      const secure = new TLSSocket(socket, { isServer: true, secureContext });
      secure.on('error', () => {});
      secure.on('data', () => secure.write('250 mx.example\r\n'));
    });
  });
  t.after(() => server.close());
  return listenOnLoopback(server);
}

async function open(port: number, more: Partial<SmtpOptions>) {
  const options = optionsFor(port, { serverName: HOST, authorities: authority.pem, ...more });
  const opened = await openSmtp(worldWith(), options);
  if (opened.ok) await opened.session.quit();
  return opened;
}

test('an expired certificate is taken where none is verified, and nowhere else', async (t) => {
  const port = await startServer(t, { expiresAt: Date.now() - DAY_MS });
  const opened = await open(port, { tls: 'opportunistic' });
  assert.ok(opened.ok, JSON.stringify(opened));
  assert.deepEqual([opened.session.tls?.authorized, opened.session.tls?.version], [false, 'TLSv1.2']);
  const refused = await open(port, { tls: 'starttls' });
  assert.ok(!refused.ok && refused.failure.kind === 'tls', JSON.stringify(refused));
  assert.match(refused.failure.message, /CERT_HAS_EXPIRED/);
  const valid = await startServer(t, {});
  assert.ok((await open(valid, { tls: 'starttls' })).ok);
});

test('TLS 1.0 is a failed handshake, for the usual ClientHello and for the small one', async (t) => {
  const port = await startServer(t, { version: 'TLSv1' });
  for (const tls of ['opportunistic', 'reduced', 'starttls'] as const) {
    const opened = await open(port, { tls });
    assert.ok(!opened.ok, tls);
    assert.deepEqual([opened.failure.phase, opened.failure.kind], ['starttls', 'tls']);
  }
});
