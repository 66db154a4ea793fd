import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { GRACE_MS, MIN_BYTES_PER_SECOND, watchPace } from '../../../src/http/transport/body.ts';
import { AppError } from '../../../src/system/errors.ts';
import { type ByteBudget, createByteBudget } from '../../../src/system/guards/byte-budget.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { head, listen, open, post } from '../connection.ts';
import { serve } from '../serve.ts';

const MIB = 1024 * 1024;
const clock = createFakeClock(0);
let server: FastifyInstance;
let bodies: ByteBudget;
let port: number;
const entered = Promise.withResolvers<void>();
before(async () => {
  bodies = createByteBudget();
  ({ server } = await serve({ bodies, clock }, (one) => {
    one.post('/slow', async () => {
      entered.resolve();
      await new Promise<void>((resolve) => void clock.after(60_000, resolve));
      throw new AppError('invalid_state', 'too late');
    });
  }));
  port = await listen(server);
});
after(() => server.close());

/** What `watchPace` says when so many bytes have come at the end of each second. */
async function watch(received: readonly number[]): Promise<{ cutAtMs: number | undefined; cuts: number }> {
  const time = createFakeClock(0);
  let bytes = 0;
  let cuts = 0;
  let cutAtMs: number | undefined;
  const pace = watchPace(
    time,
    () => bytes,
    () => {
      cuts++;
      cutAtMs = time.elapsed();
    },
  );
  for (const next of received) {
    await time.advance(1_000);
    bytes = next;
  }
  pace.cancel();
  await time.advance(600_000);
  return { cutAtMs, cuts };
}

test('a body that does not come at all is given up when the grace is over', async () => {
  assert.deepEqual(await watch(Array(60).fill(0)), { cutAtMs: GRACE_MS, cuts: 1 });
});

test('a body that stalls is refused once the minimum rate requires more bytes', async () => {
  const received = Array(60).fill(10 * MIN_BYTES_PER_SECOND);
  assert.deepEqual(await watch(received), { cutAtMs: GRACE_MS + 10_000, cuts: 1 });
});

test('a body that arrives too slowly is refused, and one at the minimum rate is not', async () => {
  const drip = Array.from({ length: 100 }, (_, second) => second * MIN_BYTES_PER_SECOND * 0.9);
  const slow = drip.map((bytes) => bytes / 0.9);
  const { cutAtMs = 0 } = await watch(drip);
  assert.ok(cutAtMs >= 30_000 && cutAtMs < 35_000, `${cutAtMs}`);
  assert.deepEqual(await watch(slow), { cutAtMs: undefined, cuts: 0 });
});

test('large bodies that are announced and not sent: 408, the connection cut and the bytes released', async () => {
  const peers = await Promise.all(Array.from({ length: 3 }, () => open(port)));
  for (const peer of peers) peer.write(`${head('/things', 7 * MIB)}{`);
  await waitUntil(() => bodies.usedBytes === 21 * MIB);
  await clock.advance(GRACE_MS - 1);
  assert.equal(bodies.usedBytes, 21 * MIB);
  await clock.advance(2);
  for (const peer of peers) {
    const { status, head: fields, body } = await peer.answer();
    assert.equal(status, 408);
    assert.equal(JSON.parse(body).error.type, 'request_timeout');
    assert.match(fields, /^connection: close/im);
    await peer.closed;
  }
  await waitUntil(() => bodies.usedBytes === 0);
});

test('chunks of one byte are no body either', async () => {
  const peer = await open(port);
  peer.write(
    'POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
  );
  await waitUntil(() => bodies.usedBytes > 0);
  for (let second = 0; second < GRACE_MS / 1_000; second++) {
    peer.write('1\r\n \r\n');
    await clock.advance(1_000);
  }
  await clock.advance(10);
  assert.equal((await peer.answer()).status, 408);
  await peer.closed;
  await waitUntil(() => bodies.usedBytes === 0);
});

test('a body that is there is no longer watched, however long its answer or the next request takes', async () => {
  const peer = await open(port);
  for (let round = 0; round < 2; round++) {
    peer.write(post('/things', '{"name":"a"}'));
    assert.equal((await peer.answer()).status, 200);
    await clock.advance(60_000);
  }
  peer.write(post('/slow', '{}'));
  await entered.promise;
  await clock.advance(60_000);
  const { status, head: fields } = await peer.answer();
  assert.equal(status, 409);
  assert.doesNotMatch(fields, /^connection: close/im, 'its refusal is not blamed on the body');
  peer.socket.destroy();
});
