import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { acceptTls } from '../../src/system/accept-tls.ts';
import { createCertificateStore } from '../../src/system/certificates.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { EC_PAIR } from './certificate-pairs.ts';

/** Starts a server that keeps its side open, as that of HTTPS does, and connects to it. */
async function open() {
  const accepted = Promise.withResolvers<TLSSocket>();
  accepted.promise.catch(() => {});
  const raw = Promise.withResolvers<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    raw.resolve(socket);
    const options = { certificates: createCertificateStore([EC_PAIR]), timeoutMs: 10_000 };
    acceptTls(createFakeClock(0), socket, options).then(accepted.resolve, accepted.reject);
  });
  const port = await listenOnLoopback(server);
  const client = connectTls({ socket: connect(port, '127.0.0.1'), rejectUnauthorized: false });
  return {
    client,
    accepted: accepted.promise,
    raw: raw.promise,
    async [Symbol.asyncDispose]() {
      client.destroy();
      (await raw.promise).destroy();
      server.close();
    },
  };
}

test('a client that closes before the end of the handshake leaves no connection behind', async () => {
  await using opened = await open();
  // The last message of the client has not left when it learns that its side is done.
  opened.client.once('secureConnect', () => opened.client.destroy());
  await assert.rejects(opened.accepted, /closed during the TLS handshake/);
  assert.equal((await opened.raw).destroyed, true);
});

test('a client may close its side after the handshake, and still gets an answer', async () => {
  await using opened = await open();
  opened.client.end('question');
  const secure = await opened.accepted;
  assert.equal(String((await once(secure, 'data'))[0]), 'question');
  await once(secure, 'end');
  secure.end('answer');
  assert.equal(String((await once(opened.client, 'data'))[0]), 'answer');
});
