/**
 * Real receivers on 127.0.0.1 that answer badly or not at all, through the daemon's own HTTP client. To each the first
 * post fails or succeeds within bounds, and an honest receiver beside it gets its post meanwhile.
 */
import assert from 'node:assert/strict';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { WebhookDeliveryRow } from '../../src/db/webhook-tables.ts';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { createFetch } from '../../src/system/fetch.ts';
import { LOOPBACK_GUARD, listenOnLoopback } from '../support/loopback.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { shareWorld, until } from './webhook-world.ts';

const inWorld = shareWorld();

/** Stands for the 15 seconds of a post. */
const TIMEOUT_MS = 300;

/** Octets that the receiver of the running test has written without end. */
let writtenBytes = 0;

type Receiver = { server: Server | TcpServer };

/** Returns the delivery to `hostile` after its first post, once its connections are closed. */
async function postTo(hostile: Receiver): Promise<WebhookDeliveryRow> {
  writtenBytes = 0;
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
      const bad = await world.createEndpoint({ url: `http://receiver.test:${ports[0]}/` });
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
      await until(world, 'connections are closed', () => sockets.size === 0);
    });
    assert.ok(row);
    return row;
  } finally {
    for (const socket of sockets) socket.destroy();
    for (const server of [hostile.server, honest]) server.close();
    honest.closeAllConnections();
  }
}

const answering = (listener: RequestListener): Receiver => ({ server: createServer(listener) });
const connecting = (onSocket: (socket: Socket) => void): Receiver => ({ server: createTcpServer(onSocket) });
const flooding = (head: string, more: string): Receiver =>
  connecting((socket) => {
    socket.write(head);
    flood(socket, more);
  });

function drip(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 20);
  response.on('close', () => clearInterval(timer));
}

for (const [what, hostile, error] of [
  ['takes the post and never answers', answering(() => {}), /timeout/i],
  ['takes the connection and never answers', connecting((socket) => void socket.resume()), /timeout/i],
  ['answers 200 and sends its body one octet at a time', answering(drip), /timeout/i],
  ['closes without an answer', answering((request) => void request.socket.destroy()), /./],
  ['resets the connection', answering((request) => void request.socket.resetAndDestroy()), /./],
  [
    'answers something that is not HTTP',
    connecting((socket) => void socket.resume().end('220 smtp\r\n')),
    /./,
  ],
  ['sends header fields without end', flooding('HTTP/1.1 200 OK\r\n', `X: ${'y'.repeat(8_000)}\r\n`), /./],
  [
    'sends informational responses without end',
    flooding('', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000)),
    /^the server sent more than 5 informational responses and no answer$/,
  ],
] as const) {
  test(`a receiver that ${what} is given up, and gets its post again later`, async () => {
    const row = await postTo(hostile);
    assert.deepEqual([row.state, row.responseStatus, row.attempts], ['pending', null, 1]);
    assert.match(row.error ?? '', error);
    assert.ok(writtenBytes < 20_000_000, `${writtenBytes} octets were taken`);
  });
}

test('a post with an endless response succeeds, keeps 4 KB of it, and closes the connection', async () => {
  const row = await postTo(
    flooding('HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n', 'y'.repeat(64_000)),
  );
  assert.deepEqual([row.state, row.responseStatus, row.attempts], ['delivered', 200, 1]);
  assert.equal(row.responseBody, 'y'.repeat(4_096));
  assert.ok(writtenBytes < 20_000_000, `${writtenBytes} octets were taken`);
});

test('a body that says it is compressed is never decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  let accepted: unknown;
  const row = await postTo(
    answering((request, response) => {
      accepted = request.headers['accept-encoding'];
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    }),
  );
  assert.deepEqual([row.state, row.responseStatus, accepted], ['delivered', 200, 'identity']);
  assert.ok((row.responseBody ?? '').length <= 4_096);
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

/** Writes as fast as the other side reads, until it no longer does. */
function flood(socket: Socket, text: string): void {
  const more = () => {
    while (!socket.destroyed) {
      writtenBytes += text.length;
      if (!socket.write(text)) return void socket.once('drain', more);
    }
  };
  more();
}
