/** Tests of the two ports of HTTPS: when they open, what TLS they speak, and what is no HTTP or no TLS. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { createFakeClock } from '../support/fake-clock.ts';
import { listens } from '../support/loopback.ts';
import { recordLog } from '../support/record-log.ts';
import { waitUntil } from '../support/wait-until.ts';
import { EC_PAIR, WILDCARD_PAIR } from '../system/certificate-pairs.ts';
import { HOSTNAME, openHttpsWorld, readAnswer } from './world.ts';

const shared = await openHttpsWorld();
after(() => shared.close());

async function opened(t: TestContext, options: Parameters<typeof openHttpsWorld>[0] = {}) {
  const world = await openHttpsWorld(options);
  t.after(() => world.close());
  return world;
}

test('with a self-signed certificate nothing listens, and both ports open once there is another', async (t) => {
  const world = await opened(t, { kind: 'self_signed' });
  assert.deepEqual([world.listener.address, world.listener.addresses()], ['', {}]);
  world.certificates.becomeTrusted();
  await waitUntil(() => Object.keys(world.listener.addresses()).length === 2);
  assert.equal((await world.ask({ name: HOSTNAME, path: '/healthz' })).status, 200);
  assert.equal((await world.redirect('/', { Host: HOSTNAME })).status, 308);
});

test('nothing listens when HTTPS is off', async (t) => {
  const world = await opened(t, { env: { POSTRIDER_HTTPS_ENABLED: 'false' } });
  assert.deepEqual([world.listener.address, world.listener.addresses()], ['', {}]);
});

test('while the first certificate is ordered, the ports are open for the authority alone', async (t) => {
  const challenges = {
    answerHttp: (host: string, token: string) =>
      host === HOSTNAME && token === 'a-b_c' ? 'the answer' : undefined,
    findAlpn: (name: string) => (name === 'x.mail.example' ? WILDCARD_PAIR : undefined),
  };
  const env = {
    POSTRIDER_ACME_DIRECTORY: 'https://authority.example/directory',
    POSTRIDER_ACME_ACCEPT_TERMS: 'true',
  };
  const world = await opened(t, { kind: 'self_signed', env, challenges });
  assert.equal((await world.ask({ name: HOSTNAME, path: '/healthz' })).status, 421);
  const { status, body } = await world.redirect('/.well-known/acme-challenge/a-b_c', {
    Host: `${HOSTNAME}:80`,
  });
  assert.deepEqual([status, body], [200, 'the answer']);
  for (const [path, host] of [
    ['a-b_c', 'other.example'],
    ['other', HOSTNAME],
    ['..%2f', HOSTNAME],
  ] as const)
    assert.notEqual(
      (await world.redirect(`/.well-known/acme-challenge/${path}`, { Host: host })).status,
      200,
    );
  assert.equal((await world.redirect('/', { Host: HOSTNAME })).status, 503);

  const proof = await world.open({ servername: 'x.mail.example', ALPNProtocols: ['acme-tls/1'] });
  assert.equal(proof.alpnProtocol, 'acme-tls/1');
  assert.match(proof.getPeerCertificate().subjectaltname ?? '', /Mail\.Example/);
  await once(proof.resume(), 'close');
  // Without an order, and beside another protocol, nothing is proven.
  for (const [servername, ...ALPNProtocols] of [
    ['y.mail.example', 'acme-tls/1'],
    ['x.mail.example', 'acme-tls/1', 'h2'],
  ] as const)
    await assert.rejects(
      world.open({ servername, ALPNProtocols: [...ALPNProtocols] }),
      /alert|reset|disconnected/i,
    );
});

test('a port that another program has is tried again, and the log says so once', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const { log, lines } = recordLog();
  const clock = createFakeClock(Date.UTC(2030, 0, 1));
  const world = await opened(t, {
    env: { POSTRIDER_HTTPS_PORT: `${port}` },
    system: { log, clock },
  });
  assert.deepEqual(Object.keys(world.listener.addresses()), ['redirect']);
  const failures = () =>
    lines.filter(({ msg }) => msg === 'a port of HTTPS cannot be opened, and is tried again');
  await clock.advance(60_000);
  assert.equal(failures().length, 1);
  assert.match(String(failures()[0]?.['reason']), /in use by another program/);
  other.close();
  await once(other, 'close');
  await clock.advance(60_000);
  await waitUntil(() => world.listener.addresses().https !== undefined);
  assert.equal((await world.ask({ name: HOSTNAME, path: '/healthz' })).status, 200);
});

test('TLS 1.2 and 1.3 are spoken, older versions are not, and HTTP/1.1 is the only protocol', async () => {
  const world = shared;
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await world.open({
      minVersion: version,
      maxVersion: version,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    assert.deepEqual([socket.getProtocol(), socket.alpnProtocol], [version, 'http/1.1']);
    socket.destroy();
  }
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await assert.rejects(world.open(old), /alert|version/i);
  await assert.rejects(world.open({ ALPNProtocols: ['h2'] }), /alert/i);
});

test('sessions are resumed, and a connection is not negotiated again', async () => {
  const world = shared;
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = await world.open({ servername: HOSTNAME, maxVersion });
    first.write(`GET /healthz HTTP/1.1\r\nHost: ${HOSTNAME}\r\n\r\n`);
    // Tickets of TLS 1.3 come after the handshake, and before the answer.
    await once(first, 'data');
    const ticket = first.getSession();
    first.destroy();
    const again = await world.open({ servername: HOSTNAME, maxVersion, ...(ticket && { session: ticket }) });
    assert.equal(again.isSessionReused(), true, maxVersion);
    again.destroy();
  }
  const socket = await world.open({ maxVersion: 'TLSv1.2' });
  const [error] = await new Promise<unknown[]>((resolve) => {
    socket.once('error', (...failed) => resolve(failed));
    socket.renegotiate({}, (...failed) => resolve(failed));
  });
  assert.match(String(error), /no renegotiation/i);
  socket.destroy();
});

test('HTTP at the port of TLS, and TLS at the port of HTTP, end without harm', async () => {
  const world = shared;
  const plain = connect(world.httpsPort(), '127.0.0.1');
  plain.write(`GET / HTTP/1.1\r\nHost: ${HOSTNAME}\r\n\r\n`);
  assert.doesNotMatch((await readAnswer(plain)).head, /HTTP/);
  const { connect: connectTls } = await import('node:tls');
  const secure = connectTls({ port: world.redirectPort(), host: '127.0.0.1' });
  await once(secure, 'error');
  assert.equal((await world.ask({ name: HOSTNAME, path: '/healthz' })).status, 200);
});

test('a client that opens too many connections is refused before its handshake, and requests on open ones are not', async (t) => {
  const world = await opened(t, { system: { clock: createFakeClock(Date.UTC(2030, 0, 1)) } });
  const kept = await world.open({ servername: HOSTNAME });
  const results = await Promise.allSettled(Array.from({ length: 310 }, () => world.open({})));
  const served = results.filter(({ status }) => status === 'fulfilled').length;
  assert.equal(served, 299);
  kept.write(`GET /healthz HTTP/1.1\r\nHost: ${HOSTNAME}\r\nConnection: close\r\n\r\n`);
  assert.equal((await readAnswer(kept)).status, 200);
  const { text } = await world.app.metrics.show();
  assert.match(text, /^postrider_connections_refused_total\{listener="https",reason="handshakes"\} 11$/m);
  for (const result of results) if (result.status === 'fulfilled') result.value.destroy();
});

test('a stop ends idle connections and answers what is asked', async (t) => {
  const world = await opened(t);
  const port = world.httpsPort();
  const idle = await world.open({ servername: HOSTNAME });
  const ended = once(idle.resume(), 'close');
  await world.listener.close();
  await ended;
  assert.equal(await listens(port), false);
});

test('the certificate is that of the store', async () => {
  const world = shared;
  const socket = await world.open({ servername: HOSTNAME });
  assert.ok(EC_PAIR.chain.includes(socket.getPeerCertificate().raw.toString('base64').slice(0, 60)));
  socket.destroy();
});
