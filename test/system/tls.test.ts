import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { realClock } from '../../src/system/clock.ts';
import { startTls, type TlsHello } from '../../src/system/tls.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { listenOnLoopback } from '../support/loopback.ts';

async function listen(t: TestContext, onSocket: (socket: Socket) => void): Promise<Socket> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  const socket = connect(await listenOnLoopback(server), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  t.after(() => {
    for (const open of [...sockets, socket]) open.destroy();
    server.close();
  });
  return socket;
}

/** The first bytes of a handshake with a peer that closes on them. */
async function clientHello(t: TestContext, hello: TlsHello): Promise<Buffer> {
  const first = Promise.withResolvers<Buffer>();
  const socket = await listen(t, (far) =>
    far.once('data', (bytes) => {
      first.resolve(bytes);
      far.destroy();
    }),
  );
  await assert.rejects(
    startTls(realClock, socket, { serverName: 'mx.example.net', timeoutMs: 30_000, hello }),
  );
  assert.equal(socket.destroyed, true);
  return await first.promise;
}

/** The library's server, with its own, publicly known certificate. */
async function tlsServer(
  t: TestContext,
  options: { maxVersion?: 'TLSv1.2' | 'TLSv1.1' } = {},
): Promise<Socket> {
  const server = new SMTPServer({ secure: true, logger: false, disableReverseLookup: true, ...options });
  server.on('error', () => {});
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  t.after(() => {
    socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return socket;
}

test('both hellos fit one packet, and the reduced one is by far the smaller', async (t) => {
  const usual = await clientHello(t, 'default');
  const reduced = await clientHello(t, 'reduced');
  for (const hello of [usual, reduced]) {
    assert.equal(hello[0], 0x16);
    assert.equal(hello.length, 5 + hello.readUInt16BE(3), 'the record is whole');
    assert.ok(hello.includes('mx.example.net'), 'SNI');
  }
  t.diagnostic(`default ${usual.length}, reduced ${reduced.length} bytes`);
  assert.ok(usual.length < 600, `${usual.length} bytes`);
  assert.ok(reduced.length < 150, `${reduced.length} bytes`);
});

test('the reduced hello ends in TLS 1.2, the usual one in the best both can do', async (t) => {
  for (const [hello, maxVersion, expected] of [
    ['default', undefined, 'TLSv1.3'],
    ['default', 'TLSv1.2', 'TLSv1.2'],
    ['reduced', undefined, 'TLSv1.2'],
    ['reduced', 'TLSv1.2', 'TLSv1.2'],
  ] as const) {
    const socket = await tlsServer(t, maxVersion ? { maxVersion } : {});
    const secure = await startTls(realClock, socket, { serverName: '', timeoutMs: 30_000, hello });
    assert.equal(secure.getProtocol(), expected);
    assert.equal(secure.authorized, false);
    secure.destroy();
  }
});

test('an error between the handshake and the next listener is not uncaught', async (t) => {
  const socket = await tlsServer(t);
  const secure = await startTls(realClock, socket, { serverName: '', timeoutMs: 30_000, hello: 'default' });
  const closed = new Promise((resolve) => secure.once('close', resolve));
  secure.destroy(new Error('the line is dead'));
  await closed;
  assert.match(String(secure.errored), /the line is dead/);
});

test('a handshake that is not answered is given up in time', async (t) => {
  const clock = createFakeClock(0);
  const reached = Promise.withResolvers<void>();
  const socket = await listen(t, (far) => far.once('data', () => reached.resolve()));
  const failures: Error[] = [];
  const handshake = startTls(clock, socket, { serverName: '', timeoutMs: 5_000, hello: 'reduced' }).catch(
    (error) => {
      failures.push(error);
    },
  );
  await reached.promise;
  await clock.advance(4_999);
  assert.equal(failures.length, 0);
  await clock.advance(1);
  await handshake;
  assert.equal(failures[0]?.name, 'TimeoutError');
  assert.equal(socket.destroyed, true);
});
