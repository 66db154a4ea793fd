import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { listenHttp } from '../../../src/http/transport/listen.ts';
import { createMetrics } from '../../../src/system/metrics.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { open } from '../connection.ts';
import { serve } from '../serve.ts';

const REQUEST = 'GET /things HTTP/1.1\r\nHost: a\r\n\r\n';

async function listening(t: TestContext, more: (server: FastifyInstance) => void = () => {}) {
  const clock = createFakeClock(0);
  const { server } = await serve({ clock }, more);
  const at = { address: '127.0.0.1', port: 0 };
  const metrics = createMetrics(clock);
  const listener = await listenHttp({ clock, metrics }, server, { section: 'http', at });
  t.after(() => listener.close());
  return { server, listener, port: Number(new URL(listener.address).port), metrics };
}

test('the address is a URL that can be connected to, also when every address is listened on', async () => {
  for (const [address, url] of [
    ['0.0.0.0', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['::', /^http:\/\/\[::1\]:\d+$/],
    ['localhost', /^http:\/\/127\.0\.0\.1:\d+$/],
  ] as const) {
    const clock = createFakeClock(0);
    const { server } = await serve({ clock });
    const system = { clock, metrics: createMetrics(clock) };
    const listener = await listenHttp(system, server, { section: 'http', at: { address, port: 0 } });
    assert.match(listener.address, url);
    await listener.close();
  }
});

test('a stop answers the request in progress, ends idle connections and accepts no new ones', async (t) => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const { port, listener, metrics } = await listening(t, (server) =>
    server.get('/slow', async () => {
      started.resolve();
      await finish.promise;
      return { done: true };
    }),
  );
  const idle = await open(port);
  idle.write(REQUEST);
  assert.equal((await idle.answer()).status, 200);
  const busy = await open(port);
  busy.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await started.promise;
  assert.match((await metrics.show()).text, /^postrider_http_connections 2$/m);

  const closed = listener.close();
  await idle.closed;
  finish.resolve();
  const { status, head } = await busy.answer();
  assert.equal(status, 200);
  assert.match(head, /^connection: close$/im);
  await closed;
  await assert.rejects(open(port), { code: 'ECONNREFUSED' });
});

test('Node reads a connection of the listener by itself, as without it', async (t) => {
  const { server, port } = await listening(t);
  let read: boolean | undefined;
  server.server.once('request', ({ socket }) => {
    // Node's own marks: the parser takes the bytes of this handle, and the stream sees none of them.
    read = (socket as unknown as { _handle: { _consumed?: boolean } })._handle._consumed;
  });
  const connection = await open(port);
  connection.write(REQUEST);
  await connection.answer();
  assert.equal(read, true);
  connection.socket.destroy();
});
