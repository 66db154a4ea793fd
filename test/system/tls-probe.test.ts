import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { test } from 'node:test';
import { createServer } from 'node:tls';
import { realClock } from '../../src/system/clock.ts';
import { createTlsProbe } from '../../src/system/tls-probe.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { CERTIFICATE, KEY } from './download-certificate.ts';

const dns = zoneDns('track.example A 127.0.0.1');
const system = { clock: realClock, dns: { fresh: dns } };
const trusting = createTlsProbe(system, CERTIFICATE);
const strict = createTlsProbe(system);

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a certificate is judged for the name of the reader, at the addresses of the server', async () => {
  const server = createServer({ key: KEY, cert: CERTIFICATE });
  const port = await portOf(server);
  const target = { server: 'track.example', port };
  assert.deepEqual(await trusting({ ...target, name: 'files.example' }), { kind: 'valid' });
  assert.deepEqual(await trusting({ ...target, name: 'other.example' }), {
    kind: 'invalid',
    reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
  assert.equal((await strict({ ...target, name: 'files.example' })).kind, 'invalid');
  server.close();
});

test('a server that shows no certificate is unreachable, for whatever reason', async () => {
  const plain = createTcpServer((socket) => socket.resume().end('220 no TLS\r\n'));
  const port = await portOf(plain);
  assert.equal(
    (await trusting({ name: 'files.example', server: 'track.example', port })).kind,
    'unreachable',
  );
  plain.close();
  await once(plain, 'close');
  assert.equal(
    (await trusting({ name: 'files.example', server: 'track.example', port })).kind,
    'unreachable',
  );
  const nowhere = await trusting({ name: 'files.example', server: 'nowhere.example', port });
  assert.deepEqual(nowhere, { kind: 'unreachable', reason: 'nowhere.example has no address' });
});
