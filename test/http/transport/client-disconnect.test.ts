import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { whileAwaited } from '../../../src/http/transport/client-disconnect.ts';
import { AppError } from '../../../src/system/errors.ts';
import { listen, open, post } from '../connection.ts';
import { serve } from '../serve.ts';

for (const leave of ['end', 'destroy'] as const) {
  test(`work for a client that has disconnected is aborted (${leave})`, async () => {
    let begun = (): void => {};
    const begins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let told = (_reason: unknown): void => {};
    const reason = new Promise<unknown>((resolve) => {
      told = resolve;
    });
    const { server } = await serve({}, (routes) => {
      routes.post('/slow', (request) =>
        whileAwaited(request, async (gone) => {
          assert.equal(gone.aborted, false, 'a body that was read is no disconnect');
          begun();
          await new Promise((resolve) => gone.addEventListener('abort', resolve));
          told(gone.reason);
          gone.throwIfAborted();
        }),
      );
    });
    try {
      const client = await open(await listen(server));
      client.write(post('/slow', '{}'));
      await begins;
      client.socket[leave]();
      const refusal = await reason;
      assert.ok(refusal instanceof AppError);
      assert.equal(refusal.code, 'request_timeout');
    } finally {
      await server.close();
    }
  });
}

test('a client that waits is answered, and its connection keeps no listener', async () => {
  const listeners: number[] = [];
  const signals: AbortSignal[] = [];
  const { server } = await serve({}, (routes) => {
    routes.post('/quick', (request) => {
      listeners.push(request.raw.socket.listenerCount('close'));
      return whileAwaited(request, async (gone) => {
        signals.push(gone);
        return { aborted: gone.aborted };
      });
    });
  });
  try {
    const client = await open(await listen(server));
    for (let index = 0; index < 3; index++) {
      client.write(post('/quick', '{}'));
      const { status, body } = await client.answer();
      assert.deepEqual([status, body], [200, '{"aborted":false}']);
    }
    assert.equal(listeners[2], listeners[0]);
    client.socket.destroy();
    await client.closed;
  } finally {
    await server.close();
  }
  assert.ok(signals.every(({ aborted }) => !aborted));
});

test('for a client that left before, nothing is begun', async () => {
  let tell = (_aborted: boolean): void => {};
  const told = new Promise<boolean>((resolve) => {
    tell = resolve;
  });
  const { server } = await serve({}, (routes) => {
    routes.post('/late', async (request) => {
      const { socket } = request.raw;
      if (!socket.destroyed) await once(socket, 'close');
      return whileAwaited(request, async (gone) => tell(gone.aborted));
    });
  });
  try {
    const client = await open(await listen(server));
    client.write(post('/late', '{}'));
    client.socket.end();
    assert.equal(await told, true);
  } finally {
    await server.close();
  }
});
