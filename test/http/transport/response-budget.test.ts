/** Responses count to the budget from before they are made until the client has read them. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { reserveResponse } from '../../../src/http/transport/response-budget.ts';
import { createByteBudget } from '../../../src/system/guards/byte-budget.ts';
import { createMetrics } from '../../../src/system/metrics.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { listen, open } from '../connection.ts';
import { serve } from '../serve.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** More than the operating system holds for a client that does not read. */
const UNREAD_BYTES = 24 * MIB;

type Options = { largeBytes?: number; stallMs?: number; routes?: (server: FastifyInstance) => void };

async function serveBudgeted({ largeBytes = MIB, stallMs, routes = () => {} }: Options = {}) {
  const metrics = createMetrics(createFakeClock(0));
  const budget = createByteBudget({ largeBytes, smallBytes: 0, share: 1 / 2 });
  const { server } = await serve(
    {
      metrics,
      holderOf: ({ headers }) => String(headers['x-holder']),
      responses: { authenticated: budget, unauthenticated: createByteBudget() },
      ...(stallMs !== undefined && { stallMs }),
    },
    (own) => {
      const size = '/size/:bytes';
      own.get<{ Params: { bytes: string } }>(size, async ({ params }) => 'x'.repeat(Number(params.bytes)));
      own.post<{ Params: { bytes: string } }>(size, async ({ params }) => 'x'.repeat(Number(params.bytes)));
      routes(own);
    },
  );
  const ask = async (holder: string, url: string, method: 'GET' | 'POST' = 'GET') => {
    const response = await server.inject({ method, url, headers: { 'x-holder': holder } });
    const { statusCode: status, headers, body } = response;
    return { status, headers, body, type: status < 400 ? undefined : response.json().error.type };
  };
  const shed = async () =>
    Number(/shed_total\{reason="responses"\} (\d+)/.exec((await metrics.show()).text)?.[1] ?? 0);
  return { server, budget, ask, shed };
}

/** A route that reserves and then waits. */
function holding() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const routes = (server: FastifyInstance) => {
    server.get<{ Params: { bytes: string } }>('/held/:bytes', async (request) => {
      reserveResponse(request, Number(request.params.bytes));
      await promise;
      return 'done';
    });
  };
  return { routes, release: resolve };
}

test('no holder has more than its share, responses beyond the budget are refused, and all bytes are released', async () => {
  const { routes, release } = holding();
  const { ask, budget, shed } = await serveBudgeted({ routes });
  const held = ask('a', `/held/${400 * KIB}`);
  while (budget.usedBytes === 0) await new Promise(setImmediate);
  const refused = await ask('a', `/held/${200 * KIB}`);
  assert.deepEqual([refused.status, refused.type, refused.headers['retry-after']], [503, 'unavailable', '2']);
  assert.equal((await ask('a', `/size/${200 * KIB}`)).type, 'unavailable');
  assert.equal((await ask('a', `/size/${100 * KIB}`)).status, 200);
  assert.equal((await ask('a', `/size/${16 * KIB}`)).status, 200);
  assert.equal((await ask('b', `/size/${400 * KIB}`)).status, 200);
  assert.equal(await shed(), 2);
  release();
  assert.equal((await held).body, 'done');
  assert.equal(budget.usedBytes, 0);
  assert.equal((await ask('a', `/size/${400 * KIB}`)).status, 200);
  assert.equal(budget.usedBytes, 0);
});

test('small answers are never refused, and what has changed something is answered whatever its size', async () => {
  const { routes, release } = holding();
  const { ask, budget } = await serveBudgeted({ routes });
  const held = ask('a', `/held/${512 * KIB}`);
  while (budget.usedBytes === 0) await new Promise(setImmediate);
  for (let count = 0; count < 50; count++) assert.equal((await ask('a', `/size/${16 * KIB}`)).status, 200);
  assert.equal((await ask('a', `/size/${16 * KIB + 1}`)).status, 503);
  assert.equal((await ask('a', `/size/${900 * KIB}`, 'POST')).status, 200);
  release();
  await held;
  assert.equal(budget.usedBytes, 0);
});

test('a route that changes something and has a large response reserves it before it begins', async () => {
  let changes = 0;
  const { ask, budget } = await serveBudgeted({
    routes(server) {
      for (const responseBytes of [100, 1_000].map((size) => size * KIB)) {
        server.post(`/change/${responseBytes}`, { config: { responseBytes } }, async () => {
          changes += 1;
          return { usedBytes: budget.usedBytes };
        });
      }
    },
  });
  assert.equal((await ask('a', `/change/${1_000 * KIB}`, 'POST')).type, 'unavailable');
  assert.equal(changes, 0);
  const { body } = await ask('a', `/change/${100 * KIB}`, 'POST');
  assert.deepEqual([JSON.parse(body), changes], [{ usedBytes: 100 * KIB }, 1]);
  assert.equal(budget.usedBytes, 0);
});

test('a stream that exceeds the budget is closed, and no cache stores the refusal', async () => {
  const { routes, release } = holding();
  const closed: boolean[] = [];
  let read = 0;
  async function* chunks() {
    read += 1;
    yield Buffer.alloc(10);
  }
  const { ask, budget } = await serveBudgeted({
    largeBytes: 2 * MIB,
    routes(server) {
      routes(server);
      server.get('/stream', async (_request, reply) => {
        const stream = Readable.from(chunks());
        stream.once('close', () => void closed.push(true));
        return reply
          .headers({ 'cache-control': 'public', etag: '"a"', 'content-disposition': 'attachment' })
          .type('text/csv')
          .send(stream);
      });
    },
  });
  const served = await ask('a', '/stream');
  assert.deepEqual([served.status, served.headers.etag, read], [200, '"a"', 1]);
  const held = ask('a', `/held/${MIB}`);
  while (budget.usedBytes === 0) await new Promise(setImmediate);
  const { status, headers } = await ask('a', '/stream');
  assert.equal(status, 503);
  for (const name of ['cache-control', 'etag', 'content-disposition']) assert.equal(headers[name], undefined);
  assert.match(String(headers['content-type']), /^application\/json/);
  await waitUntil(() => closed.length === 2);
  assert.equal(read, 1, 'nothing more was read');
  release();
  await held;
  assert.equal(budget.usedBytes, 0);
});

test('a response counts until its client has read it or disconnected', async () => {
  const { server, budget } = await serveBudgeted({ largeBytes: 2 * UNREAD_BYTES });
  try {
    const port = await listen(server);
    const request = `GET /size/${UNREAD_BYTES} HTTP/1.1\r\nHost: a\r\nX-Holder: a\r\n\r\n`;
    const [reader, leaver] = [await open(port), await open(port)];
    for (const ends of [() => void reader.socket.resume(), () => leaver.socket.destroy()]) {
      const client = budget.usedBytes === 0 && reader.socket.bytesWritten === 0 ? reader : leaver;
      client.socket.pause();
      client.write(request);
      await waitUntil(() => budget.usedBytes > 0);
      const other = await open(port);
      other.write('GET /size/100000 HTTP/1.1\r\nHost: a\r\nX-Holder: a\r\n\r\n');
      assert.equal((await other.answer()).status, 503);
      other.socket.destroy();
      assert.equal(budget.usedBytes, UNREAD_BYTES);
      ends();
      await waitUntil(() => budget.usedBytes === 0);
    }
    reader.socket.destroy();
  } finally {
    await server.close();
  }
});

test('a connection whose client does not read is closed, and its bytes are released', async () => {
  const { server, budget } = await serveBudgeted({ largeBytes: 2 * UNREAD_BYTES, stallMs: 20 });
  try {
    const client = await open(await listen(server));
    client.socket.pause();
    client.write(`GET /size/${UNREAD_BYTES} HTTP/1.1\r\nHost: a\r\nX-Holder: a\r\n\r\n`);
    while (budget.usedBytes === 0) await new Promise(setImmediate);
    await waitUntil(() => budget.usedBytes === 0);
    const connections = () =>
      new Promise<number>((resolve) => server.server.getConnections((_error, count) => resolve(count)));
    await waitUntil(async () => (await connections()) === 0);
    assert.equal(budget.usedBytes, 0);
    client.socket.destroy();
  } finally {
    await server.close();
  }
});
