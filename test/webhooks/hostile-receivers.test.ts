/**
 * Real receivers on 127.0.0.1 that answer badly or not at all, through the daemon's own HTTP client. To each the first
 * post fails or succeeds within bounds, and an honest receiver beside it gets its post meanwhile.
 */
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { WebhookDeliveryRow } from '../../src/db/tables.ts';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { createFetch } from '../../src/system/fetch.ts';
import { LOOPBACK_GUARD, listenOnLoopback } from '../support/loopback.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { CERTIFICATE, KEY } from '../system/download-certificate.ts';
import { shareWorld, until } from './webhook-world.ts';

const inWorld = shareWorld();

/** Stands for the 15 seconds of a post. */
const TIMEOUT_MS = 300;

type Receiver = { server: Server | TcpServer; scheme?: 'https'; path?: string };

/** The delivery to `hostile` after its first post, and how many sockets it still holds. */
async function postTo(hostile: Receiver): Promise<{ row: WebhookDeliveryRow; openSockets: number }> {
  const sockets = new Set<Socket>();
  hostile.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const honest = createServer((_request, response) => void response.end('thanks'));
  const ports: number[] = [];
  for (const server of [hostile.server, honest]) ports.push(await listenOnLoopback(server));
  let row: WebhookDeliveryRow | undefined;
  try {
    await inWorld(async (world) => {
      const fetch = createFetch(LOOPBACK_GUARD, zoneDns('receiver.test. A 127.0.0.1'));
      world.knobs.fetch = (request) => fetch({ ...request, timeoutMs: TIMEOUT_MS });
      const { scheme = 'http', path = '/' } = hostile;
      const bad = await world.createEndpoint({ url: `${scheme}://receiver.test:${ports[0]}${path}` });
      const good = await world.createEndpoint({ url: `http://receiver.test:${ports[1]}/` });
      await world.record();
      world.start();
      const rowOf = async (id: string) => (await world.deliveries()).find((one) => one.endpointId === id);
      await until(
        world,
        'the honest receiver has it',
        async () => (await rowOf(good.id))?.state === 'delivered',
      );
      await until(world, 'the first post has ended', async () => {
        row = await rowOf(bad.id);
        return row !== undefined && (row.state !== 'pending' || row.error !== null);
      });
      await until(world, 'sockets that are of no use are closed', () => sockets.size <= 1);
    });
    assert.ok(row);
    return { row, openSockets: sockets.size };
  } finally {
    for (const socket of sockets) socket.destroy();
    for (const server of [hostile.server, honest]) server.close();
    honest.closeAllConnections();
  }
}

const answering = (listener: RequestListener): Receiver => ({ server: createServer(listener) });
const heard = ({ row }: { row: WebhookDeliveryRow }) =>
  [row.state, row.responseStatus, row.attempts] as const;

test('a receiver that takes the post and never answers is given up after the time limit', async () => {
  const { row, openSockets } = await postTo(answering(() => {}));
  assert.deepEqual(heard({ row }), ['pending', null, 1]);
  assert.match(row.error ?? '', /timeout/i);
  assert.equal(openSockets, 0);
});

test('a receiver that takes the connection and never answers the request is given up', async () => {
  const { row, openSockets } = await postTo({ server: createTcpServer((socket) => void socket.resume()) });
  assert.deepEqual([row.state, row.responseStatus, openSockets], ['pending', null, 0]);
  assert.match(row.error ?? '', /timeout/i);
});

test('a receiver that answers 200 and sends its body one octet at a time is given up', async () => {
  const timers: NodeJS.Timeout[] = [];
  const { row } = await postTo(
    answering((_request, response) => {
      response.writeHead(200);
      timers.push(setInterval(() => response.write('.'), 20));
    }),
  );
  for (const timer of timers) clearInterval(timer);
  assert.deepEqual([row.state, row.attempts], ['pending', 1]);
});

test('a receiver that closes without an answer is unreachable', async () => {
  const { row } = await postTo(answering((request) => void request.socket.destroy()));
  assert.deepEqual(heard({ row }), ['pending', null, 1]);
});

test('a receiver that resets the connection is unreachable', async () => {
  const { row } = await postTo(answering((request) => void request.socket.resetAndDestroy()));
  assert.deepEqual(heard({ row }), ['pending', null, 1]);
  assert.notEqual(row.error, '');
});

test('an answer that is not HTTP is none', async () => {
  const { row } = await postTo({ server: createTcpServer((socket) => void socket.end('220 smtp\r\n')) });
  assert.deepEqual(heard({ row }), ['pending', null, 1]);
});

test('endless header fields are not read', async () => {
  const { row } = await postTo({
    server: createTcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, `X: ${'y'.repeat(8_000)}\r\n`);
    }),
  });
  assert.deepEqual(heard({ row }), ['pending', null, 1]);
  assert.ok(writtenBytes < 20_000_000, `${writtenBytes} octets were taken`);
});

test('informational responses without end are broken off, and the endpoint is suspended', async () => {
  const { row, openSockets } = await postTo({
    server: createTcpServer((socket) => {
      flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000));
    }),
  });
  assert.deepEqual([...heard({ row }), openSockets], ['pending', null, 1, 0]);
  assert.equal(row.error, 'the server sent more than 5 informational responses and no answer');
  assert.ok(writtenBytes < 20_000_000, `${writtenBytes} octets were taken`);
});

test('a post with an endless response succeeds, keeps 4 KB of it, and closes the connection', async () => {
  const { row, openSockets } = await postTo({
    server: createTcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n');
      flood(socket, 'y'.repeat(64_000));
    }),
  });
  assert.deepEqual(heard({ row }), ['delivered', 200, 1]);
  assert.equal(row.responseBody, 'y'.repeat(4_096));
  assert.equal(openSockets, 0);
  assert.ok(writtenBytes < 20_000_000, `${writtenBytes} octets were taken`);
});

test('a body that says it is compressed is never decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  let accepted: unknown;
  const { row } = await postTo(
    answering((request, response) => {
      accepted = request.headers['accept-encoding'];
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    }),
  );
  assert.deepEqual(heard({ row }), ['delivered', 200, 1]);
  assert.equal(accepted, 'identity');
  assert.ok((row.responseBody ?? '').length <= 4_096);
});

test('a redirect is not followed', async () => {
  const paths: unknown[] = [];
  const { row } = await postTo(
    answering((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    }),
  );
  assert.deepEqual(heard({ row }), ['pending', 307, 1]);
  assert.deepEqual(paths, ['/']);
});

test('a receiver with a certificate nobody vouches for gets nothing', async () => {
  let requests = 0;
  const server = createSecureServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => {
    requests += 1;
    response.end();
  });
  const { row } = await postTo({ server, scheme: 'https' });
  assert.deepEqual(heard({ row }), ['pending', null, 1]);
  assert.match(row.error ?? '', /certificate|self.signed/i);
  assert.equal(requests, 0);
});

for (const zone of ['', 'nowhere.test A 10.0.0.1', 'nowhere.test AAAA fd00::1']) {
  test(`a delivery and a test to a name report the same, whether it has no address or an internal one: "${zone}"`, () =>
    inWorld(async (world) => {
      world.knobs.fetch = createFetch(createTargetGuard({ allow: [], own: [] }), zoneDns(zone));
      const { id } = await world.createEndpoint({ url: 'https://nowhere.test/' });
      await world.record();
      world.start();
      const errorOf = async () => (await world.deliveries())[0]?.error ?? null;
      await until(world, 'it has an error', async () => (await errorOf()) !== null);
      const [row] = await world.deliveries();
      assert.deepEqual(
        [row?.state, row?.attempts, row?.responseStatus, row?.error],
        ['pending', 1, null, 'nowhere.test has no public address'],
      );
      const { body } = await world.test.request('POST', `/v1/webhooks/${id}/test`);
      assert.deepEqual(body, {
        ...{ delivered: false, responseStatus: null, responseTimeMs: null },
        error: 'nowhere.test has no public address',
      });
    }));
}

/** Octets that the receiver of the test that runs has written without end. */
let writtenBytes = 0;

/** Writes as fast as the other side reads, until it no longer does. */
function flood(socket: Socket, text: string): void {
  writtenBytes = 0;
  const more = () => {
    while (!socket.destroyed) {
      writtenBytes += text.length;
      if (!socket.write(text)) return void socket.once('drain', more);
    }
  };
  more();
}
