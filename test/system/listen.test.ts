import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { encodeProtocols } from '../../src/system/accept-tls.ts';
import { createCertificateStore } from '../../src/system/certificates.ts';
import { realClock } from '../../src/system/clock.ts';
import { ListenError, type ListenOptions, listen, listenAt } from '../../src/system/listen.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { waitUntil } from '../support/wait-until.ts';
import { EC_PAIR, RSA_PAIR, WILDCARD_PAIR } from './certificate-pairs.ts';

const LOOPBACK = { address: '127.0.0.1', port: 0 };
const ROOMY = { total: 100, perAddress: 100 };

/** A server that greets each connection and sends back what comes. */
async function echo(t: TestContext, options: Partial<ListenOptions> = {}, clock = createFakeClock(0)) {
  const metrics = createMetrics(clock);
  const server = createServer((socket) => socket.pipe(socket).write('hello '));
  const listener = await listen({ clock, metrics }, server, {
    section: 'smtp',
    at: LOOPBACK,
    limits: ROOMY,
    ...options,
  });
  t.after(async () => {
    const closed = listener.close(0);
    await clock.advance(0);
    await closed;
  });
  return {
    listener,
    clock,
    port: Number(listener.address.split(':').at(-1)),
    metrics: async () => (await metrics.show()).text,
  };
}

/** The first bytes that arrive; empty when the connection closes without any. */
function firstBytes(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => resolve(bytes.toString()));
    socket.once('close', () => resolve(''));
  });
}

function dial(port: number, localAddress = '127.0.0.1'): Socket {
  return connect({ host: '127.0.0.1', port, localAddress });
}

test('one client has at most its share of the connections, others still connect, and a closed one frees its place', async (t) => {
  const { port, metrics, listener } = await echo(t, {
    limits: { total: 4, perAddress: 2, isExempt: (address) => address === '127.0.0.9' },
    refusal: () => '421 too many\r\n',
  });
  assert.equal(listener.address, `127.0.0.1:${port}`);
  const [first, second] = [dial(port), dial(port)];
  assert.equal(await firstBytes(first), 'hello ');
  assert.equal(await firstBytes(second), 'hello ');
  assert.equal(await firstBytes(dial(port)), '421 too many\r\n');
  const other = dial(port, '127.0.0.2');
  assert.equal(await firstBytes(other), 'hello ');
  assert.match(await metrics(), /postrider_smtp_connections 3/);
  assert.match(await metrics(), /connections_refused_total\{listener="smtp",reason="address"\} 1/);

  first.end();
  await once(first, 'close');
  const proxies = [dial(port, '127.0.0.9'), dial(port, '127.0.0.9')];
  assert.deepEqual(await Promise.all(proxies.map(firstBytes)), ['hello ', 'hello ']);
  assert.equal(await firstBytes(dial(port, '127.0.0.3')), '421 too many\r\n');
  assert.match(await metrics(), /connections_refused_total\{listener="smtp",reason="total"\} 1/);
  proxies[0]?.destroy();
  other.destroy();
  second.destroy();
  proxies[1]?.end();
});

test('after closing began nobody is accepted, who is connected may end, and is cut off after the grace', async (t) => {
  const { port, listener, clock } = await echo(t);
  const [polite, idle] = [dial(port), dial(port)];
  await Promise.all([polite, idle].map(firstBytes));
  const closed = listener.close(5_000);
  const [error] = await once(dial(port), 'error');
  assert.equal(error.code, 'ECONNREFUSED');
  polite.write('last');
  assert.equal(await firstBytes(polite), 'last');
  polite.end();
  await once(polite, 'close');
  assert.equal(idle.destroyed, false);
  const cutOff = once(idle, 'close');
  await clock.advance(5_000);
  await Promise.all([cutOff, closed]);
});

test('an address that cannot be listened on is reported with the section it comes from', async (t) => {
  const { port } = await echo(t);
  const failing = (at: { address: string; port: number }) =>
    listen({ clock: realClock }, createServer(), { section: 'imap', at, limits: ROOMY });
  await assert.rejects(failing({ address: '127.0.0.1', port }), {
    name: 'ListenError',
    section: 'imap',
    code: 'EADDRINUSE',
    message: `port ${port} of 127.0.0.1 is in use by another program`,
  });
  await assert.rejects(failing({ address: '192.0.2.1', port: 0 }), {
    code: 'EADDRNOTAVAIL',
    message: 'this machine does not have the address 192.0.2.1',
  });
});

test('a UNIX socket is limited in total alone', async (t) => {
  const path = join(temporaryDirectory('listen'), 'socket');
  const { listener } = await echo(t, { at: { path }, limits: { total: 2, perAddress: 1 } });
  assert.equal(listener.address, path);
  const sockets = [connect(path), connect(path), connect(path)];
  assert.deepEqual(await Promise.all(sockets.map(firstBytes)), ['hello ', 'hello ', '']);
  for (const socket of sockets) socket.destroy();
});

function dialTls(port: number, options: ConnectionOptions = {}): TLSSocket {
  return connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
}

/** The name that the certificate of the server begins with. */
async function certificateFor(port: number, options: ConnectionOptions): Promise<string> {
  const socket = dialTls(port, options);
  assert.equal(await firstBytes(socket), 'hello ');
  const { subjectaltname = '' } = socket.getPeerCertificate();
  const protocol = socket.alpnProtocol ? ` ${socket.alpnProtocol}` : '';
  socket.destroy();
  return subjectaltname + protocol;
}

test('TLS: the name that the client asks for chooses the certificate, and a replaced one serves the next connection', async (t) => {
  const certificates = createCertificateStore([EC_PAIR, RSA_PAIR, WILDCARD_PAIR]);
  const tls = { certificates, timeoutMs: 30_000, protocols: encodeProtocols(['imap']) };
  const { port } = await echo(t, { tls });
  assert.equal(await certificateFor(port, {}), 'DNS:mx.example');
  assert.equal(
    await certificateFor(port, { servername: 'imap.mail.example', ALPNProtocols: ['imap'] }),
    'DNS:*.mail.example, DNS:Mail.Example imap',
  );
  // Clients without elliptic curves get the other certificate of the same name.
  for (const suite of ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256']) {
    const options = { servername: 'mx.example', maxVersion: 'TLSv1.2', ciphers: suite } as const;
    assert.equal(await certificateFor(port, options), 'DNS:mx.example', suite);
  }
  certificates.replace([WILDCARD_PAIR]);
  assert.match(await certificateFor(port, { servername: 'mx.example' }), /mail\.example/);
});

test('TLS: every name has its certificates of both types, and the client chooses', async (t) => {
  const certificates = createCertificateStore([WILDCARD_PAIR, RSA_PAIR, EC_PAIR]);
  const { port } = await echo(t, { tls: { certificates, timeoutMs: 30_000 } });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    for (const [sigalgs, type] of [
      ['ecdsa_secp256r1_sha256', 'ec'],
      ['rsa_pss_rsae_sha256', 'rsa'],
    ] as const) {
      const socket = dialTls(port, { servername: 'MX.example', maxVersion, sigalgs });
      assert.equal(await firstBytes(socket), 'hello ', `${maxVersion} ${sigalgs}`);
      const { subject, publicKey } = socket.getPeerX509Certificate() ?? {};
      assert.deepEqual([subject, publicKey?.asymmetricKeyType], ['CN=mx.example', type], maxVersion);
      socket.destroy();
    }
  }
  // The first name has no RSA certificate, and that of the other name must not stand in for it.
  const rsaAlone = { servername: 'mail.example', sigalgs: 'rsa_pss_rsae_sha256' };
  assert.equal(await firstBytes(dialTls(port, rsaAlone)), '');
});

test('TLS: a hello that arrives in many pieces is understood', async (t) => {
  const certificates = createCertificateStore([EC_PAIR, WILDCARD_PAIR]);
  const { port } = await echo(t, { tls: { certificates, timeoutMs: 30_000 } });
  const raw = dial(port).setNoDelay();
  const slow = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      for (const byte of chunk) raw.write(Buffer.of(byte));
      setImmediate(done);
    },
  });
  raw.on('data', (bytes) => slow.push(bytes));
  const socket = connectTls({ socket: slow, servername: 'mail.example', rejectUnauthorized: false });
  assert.equal(await firstBytes(socket), 'hello ');
  assert.equal(socket.getPeerX509Certificate()?.subjectAltName, 'DNS:*.mail.example, DNS:Mail.Example');
  raw.destroy();
});

test('TLS: plaintext, old versions and foreign protocols are closed, and the server never sees them', async (t) => {
  const certificates = createCertificateStore([EC_PAIR]);
  const { port, metrics } = await echo(t, {
    tls: { certificates, timeoutMs: 30_000, protocols: encodeProtocols(['imap']) },
  });
  const plain = dial(port);
  plain.write('EHLO a.example\r\n');
  assert.doesNotMatch(await firstBytes(plain), /hello/);
  const old = dialTls(port, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
  assert.equal(await firstBytes(old), '');
  assert.equal(await firstBytes(dialTls(port, { ALPNProtocols: ['h2'] })), '');
  plain.destroy();
  assert.equal(await firstBytes(dialTls(port)), 'hello ');
  assert.match(await metrics(), /postrider_smtp_connections 1/);
});

test('TLS: a handshake that does not come ends with its deadline and frees the connection', async (t) => {
  const certificates = createCertificateStore([EC_PAIR]);
  const limits = { total: 1, perAddress: 1 };
  const { port, clock } = await echo(t, { limits, tls: { certificates, timeoutMs: 30_000 } });
  const silent = dial(port);
  await once(silent, 'connect');
  assert.equal(await firstBytes(dialTls(port)), '', 'the silent client counts');
  const cutOff = once(silent, 'close');
  await clock.advance(30_000);
  await cutOff;
  assert.equal(await firstBytes(dialTls(port)), 'hello ');
});

/** Returns a session for later connections. */
async function newSession(port: number, options: ConnectionOptions): Promise<Buffer> {
  const socket = dialTls(port, options);
  const [[session]] = await Promise.all([once(socket, 'session'), firstBytes(socket)]);
  assert.equal(socket.isSessionReused(), false);
  socket.destroy();
  return session;
}

async function isResumed(port: number, options: ConnectionOptions): Promise<boolean> {
  const socket = dialTls(port, options);
  assert.equal(await firstBytes(socket), 'hello ');
  const isReused = socket.isSessionReused();
  socket.destroy();
  return isReused;
}

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`${maxVersion}: a session is resumed, also after the certificates were replaced, until the key of tickets is renewed`, async (t) => {
    const certificates = createCertificateStore([EC_PAIR, WILDCARD_PAIR]);
    const { port } = await echo(t, { tls: { certificates, timeoutMs: 30_000 } });
    const options = { maxVersion, servername: 'mx.example' };
    const session = await newSession(port, options);
    assert.equal(await isResumed(port, { ...options, session }), true);
    certificates.replace([RSA_PAIR, EC_PAIR]);
    assert.equal(await isResumed(port, { ...options, session }), true);
    certificates.renewTicketKey();
    assert.equal(await isResumed(port, { ...options, session }), false);
    // A daemon that has started again has another key.
    const again = createCertificateStore([EC_PAIR]);
    const restarted = await echo(t, { tls: { certificates: again, timeoutMs: 30_000 } });
    assert.equal(await isResumed(restarted.port, { ...options, session }), false);
  });
}

test('a handshake begins when it is its turn, and one whose client has gone never does', async (t) => {
  const turns: (() => void)[] = [];
  const turn = () => new Promise<void>((resolve) => void turns.push(resolve));
  const certificates = createCertificateStore([EC_PAIR]);
  const { port, clock } = await echo(t, { tls: { certificates, timeoutMs: 30_000, turn } });
  const dial = () => connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }).on('error', () => {});
  const gone = dial();
  const patient = dial();
  t.after(() => patient.destroy());
  await waitUntil(() => turns.length === 2);
  let isEncrypted = false;
  patient.once('secureConnect', () => {
    isEncrypted = true;
  });
  gone.destroy();
  await once(gone, 'close');
  assert.equal(isEncrypted, false);
  // The wait is no delay of the client.
  await clock.advance(60_000);
  for (const begin of turns) begin();
  assert.equal(String((await once(patient, 'data'))[0]), 'hello ');
});

test('on a machine without IPv6 all addresses are those of IPv4', async () => {
  const asked: string[] = [];
  const failing = (code: string) => async (address: string) => {
    asked.push(address);
    if (address === '0.0.0.0') return address;
    throw new ListenError(
      { section: 'imap', at: { address, port: 1 } },
      Object.assign(new Error(), { code }),
    );
  };
  assert.equal(await listenAt('::', failing('EAFNOSUPPORT')), '0.0.0.0');
  await assert.rejects(listenAt('::1', failing('EAFNOSUPPORT')), { code: 'EAFNOSUPPORT' });
  await assert.rejects(listenAt('::', failing('EADDRINUSE')), { code: 'EADDRINUSE' });
  assert.deepEqual(asked, ['::', '0.0.0.0', '::1', '::']);
});
