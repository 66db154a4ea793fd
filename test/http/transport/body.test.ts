import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { MAX_BODY_BYTES } from '../../../src/http/json/server.ts';
import { MAX_DISCARDED_BYTES } from '../../../src/http/transport/body.ts';
import { type ByteBudget, createByteBudget } from '../../../src/system/guards/byte-budget.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { head, listen, open, post } from '../connection.ts';
import { serve } from '../serve.ts';

const LARGE_BYTES = 600_000;
const THING = '{"name":"a"}';

let server: FastifyInstance;
let bodies: ByteBudget;
let port: number;
/** Settled by a test to let `/slow` answer. */
const finish = Promise.withResolvers<void>();
const entered = Promise.withResolvers<void>();
const left = Promise.withResolvers<void>();
before(async () => {
  bodies = createByteBudget({ largeBytes: 2 * LARGE_BYTES, smallBytes: 300_000, share: 1 });
  const served = await serve({ bodies }, (one) => {
    one.post('/slow', async (_request, reply) => {
      reply.raw.once('close', left.resolve);
      entered.resolve();
      await finish.promise;
      return { done: true };
    });
    one.post('/long', { bodyLimit: 1_000_000 }, async ({ body }) => ({
      length: (body as { a: string }).a.length,
    }));
  });
  server = served.server;
  port = await listen(server);
});
after(() => server.close());

const filled = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;

const nothingHeld = () => waitUntil(() => bodies.usedBytes === 0);

test('a chunked body grows as it comes, up to the limit of the route', async () => {
  const peer = await open(port);
  const chunked = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
    `${body.replace(/.{1,50000}/gs, (part) => `${part.length.toString(16)}\r\n${part}\r\n`)}0\r\n\r\n`;
  peer.write(chunked('/long', filled(1_000_000)));
  assert.deepEqual(JSON.parse((await peer.answer()).body), { length: 1_000_000 - 8 });
  peer.write(chunked('/long', filled(1_000_001)));
  assert.equal((await peer.answer()).status, 413);
  peer.write(post('/things', THING));
  assert.equal((await peer.answer()).status, 200);
  peer.socket.destroy();
  await nothingHeld();
});

test('a chunked body reserves no more bytes than its route allows', async () => {
  const limitBytes = 1_000_000;
  const exact = createByteBudget({ largeBytes: limitBytes, smallBytes: 0, share: 1 });
  const { server: one, send } = await serve({ bodies: exact }, (routes) => {
    routes.post('/exact', { bodyLimit: limitBytes }, async () => ({ used: exact.usedBytes }));
  });
  const { status, body } = await send({
    method: 'POST',
    url: '/exact',
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    payload: Readable.from([filled(limitBytes)]),
  });
  assert.equal(status, 200);
  assert.equal(body.used, limitBytes);
  await one.close();
});

test('a chunked body that exceeds the byte budget is refused while it grows', async () => {
  const [first, second] = [await open(port), await open(port)];
  first.write(head('/long', LARGE_BYTES));
  await waitUntil(() => bodies.usedBytes === LARGE_BYTES);
  second.write(
    `POST /long HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  second.write(`f0000\r\n${'x'.repeat(0xf0000)}\r\n`);
  const { status, head: fields } = await second.answer();
  assert.equal(status, 503);
  assert.match(fields, /^retry-after: \d+$/im);
  first.socket.destroy();
  second.socket.destroy();
  await nothingHeld();
});

test('a body that exceeds the byte budget is refused before it is read, and the connection stays open', async () => {
  const holders = [await open(port), await open(port)];
  for (const holder of holders) holder.write(head('/long', LARGE_BYTES));
  await waitUntil(() => bodies.usedBytes === 2 * LARGE_BYTES);
  const peer = await open(port);
  peer.write(head('/long', LARGE_BYTES));
  const refused = await peer.answer();
  assert.equal(refused.status, 503);
  assert.equal(JSON.parse(refused.body).error.type, 'unavailable');
  assert.match(refused.head, /^retry-after: \d+$/im);
  assert.doesNotMatch(refused.head, /^connection: close/im);
  peer.write(filled(LARGE_BYTES) + post('/things', THING));
  assert.equal((await peer.answer()).status, 200, 'small ones still fit');
  for (const { socket } of [...holders, peer]) socket.destroy();
  await nothingHeld();
});

test('the reservation is released with the response', async () => {
  const peer = await open(port);
  for (let round = 0; round < 5; round++) {
    peer.write(post('/long', filled(LARGE_BYTES)));
    assert.equal((await peer.answer()).status, 200);
  }
  await nothingHeld();
  peer.write(post('/things', '{'));
  assert.equal((await peer.answer()).status, 400);
  await nothingHeld();
  peer.socket.destroy();
});

test('a client that disconnects in the middle of its body releases the reservation', async () => {
  const peer = await open(port);
  peer.write(head('/long', LARGE_BYTES) + 'x'.repeat(1_000));
  await waitUntil(() => bodies.usedBytes === LARGE_BYTES);
  peer.socket.destroy();
  await nothingHeld();
  assert.equal(bodies.usedBytes, 0);
});

test('a client that disconnects after its body keeps the reservation until its request is finished', async () => {
  const peer = await open(port);
  peer.write(post('/slow', filled(LARGE_BYTES)));
  await entered.promise;
  peer.socket.destroy();
  await left.promise;
  assert.equal(bodies.usedBytes, LARGE_BYTES);
  finish.resolve();
  await nothingHeld();
});

test('a length over the limit is refused by its number, and the sender is not reset', async () => {
  const peer = await open(port);
  peer.write(head('/things', MAX_BODY_BYTES + 1));
  assert.equal((await peer.answer()).status, 413);
  peer.write(Buffer.alloc(MAX_BODY_BYTES + 1, 'x'));
  peer.write(post('/things', THING));
  assert.equal((await peer.answer()).status, 200);
  assert.equal(bodies.usedBytes, 0);
  peer.socket.destroy();
});

test('nor is one that wants the connection closed: it ends when all was sent', async () => {
  const peer = await open(port);
  peer.write(head('/things', MAX_BODY_BYTES + 1, 'Connection: close\r\n'));
  assert.equal((await peer.answer()).status, 413);
  const send = (bytes: Buffer) =>
    new Promise<void>((resolve, reject) => {
      peer.socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  await send(Buffer.alloc(MAX_BODY_BYTES, 'x'));
  assert.equal(peer.socket.readableEnded, false);
  await send(Buffer.from('x'));
  await peer.closed;
});

test('a refused body is read only up to a limit, and then the connection is cut', async () => {
  const peer = await open(port);
  peer.write(head('/things', 2 * MAX_DISCARDED_BYTES));
  assert.equal((await peer.answer()).status, 413);
  const part = Buffer.alloc(1024 * 1024, 'x');
  let sent = 0;
  while (!peer.socket.destroyed && sent < 2 * MAX_DISCARDED_BYTES - 1) {
    sent += part.length;
    if (!peer.socket.write(part))
      await Promise.race([new Promise((resolve) => peer.socket.once('drain', resolve)), peer.closed]);
  }
  assert.ok(peer.socket.destroyed);
  assert.ok(sent >= MAX_DISCARDED_BYTES);
});

test('an unknown path is refused before its body is read', async () => {
  const peer = await open(port);
  peer.write(head('/nothing', LARGE_BYTES));
  assert.equal((await peer.answer()).status, 404);
  assert.equal(bodies.usedBytes, 0);
  peer.socket.destroy();
});

test('a length that is not kept is a bad request', async () => {
  for (const length of ['11', '13']) {
    const response = await server.inject({
      method: 'POST',
      url: '/things',
      headers: { 'content-type': 'application/json', 'content-length': length },
      payload: THING,
    });
    assert.equal(response.statusCode, 400, length);
    assert.match(response.json().error.message, /Content-Length/, length);
  }
});

test('a body that waits to be asked for is asked for when it is wanted', async () => {
  const peer = await open(port);
  peer.write(head('/things', THING.length, 'Expect: 100-continue\r\n'));
  assert.equal((await peer.answer()).status, 100);
  peer.write(THING);
  const answer = await peer.answer();
  assert.equal(answer.status, 200);
  assert.doesNotMatch(answer.head, /^connection: close/im);
  peer.write(post('/things', THING));
  assert.equal((await peer.answer()).status, 200);
  peer.socket.destroy();
});

test('a refusal does not ask for it, and ends the connection, on which nobody knows what follows', async () => {
  for (const [path, length, status] of [
    ['/things', MAX_BODY_BYTES + 1, 413],
    ['/nothing', 10, 404],
  ] as const) {
    const peer = await open(port);
    peer.write(head(path, length, 'Expect: 100-continue\r\n'));
    const answer = await peer.answer();
    assert.equal(answer.status, status);
    assert.match(answer.head, /^connection: close/im);
    await peer.closed;
  }
});

test('a holder has its share and no more; another has its own', async () => {
  const shared = createByteBudget({ largeBytes: 2 * LARGE_BYTES, smallBytes: 0 });
  const holderOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers['x-who']);
  const { server: one } = await serve({ bodies: shared, holderOf }, (routes) => {
    routes.post('/long', { bodyLimit: 1_000_000 }, async () => ({ done: true }));
  });
  const at = await listen(one);
  const holder = await open(at);
  holder.write(head('/long', LARGE_BYTES, 'X-Who: a\r\n'));
  await waitUntil(() => shared.usedBytes === LARGE_BYTES);
  const peer = await open(at);
  peer.write(post('/long', filled(1_000), 'X-Who: a\r\n'));
  assert.equal((await peer.answer()).status, 503);
  peer.write(post('/long', filled(LARGE_BYTES), 'X-Who: b\r\n'));
  assert.equal((await peer.answer()).status, 200);
  holder.socket.destroy();
  await waitUntil(() => shared.usedBytes === 0);
  peer.write(post('/long', filled(LARGE_BYTES), 'X-Who: a\r\n'));
  assert.equal((await peer.answer()).status, 200);
  peer.socket.destroy();
  await one.close();
});
