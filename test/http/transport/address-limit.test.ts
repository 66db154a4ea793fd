/** Requests of unknown senders are limited for each address; those of known senders are not. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { limitPerSlice, MAX_BEGUN_PER_SLICE } from '../../../src/http/transport/host-names.ts';
import { createAddressLimit } from '../../../src/system/guards/address-limit.ts';
import { createMetrics } from '../../../src/system/metrics.ts';
import { nextSlice } from '../../../src/system/slices.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { listen, open } from '../connection.ts';
import { serve } from '../serve.ts';

const KNOWN = 'Bearer known';

async function serveLimited(burst: number) {
  const clock = createFakeClock(0);
  const metrics = createMetrics(clock);
  const limit = createAddressLimit(clock, { requestsPerSecond: 2, burst });
  const { server } = await serve({
    ...{ clock, metrics, trustedProxies: ['10.0.0.1'] },
    unauthenticated: { limit, isAuthenticated: ({ headers }) => headers.authorization === KNOWN },
  });
  const ask = async (remoteAddress: string, headers: Record<string, string> = {}, url = '/things/1') => {
    const { statusCode, ...response } = await server.inject({ url, remoteAddress, headers });
    return { status: statusCode, ...response };
  };
  return { server, clock, metrics, ask };
}

test('an address beyond its burst is refused until it has a token again, and other addresses are not', async () => {
  const { ask, clock, metrics } = await serveLimited(2);
  const statuses = async (count: number, address: string) => {
    const found: number[] = [];
    for (let index = 0; index < count; index++) found.push((await ask(address)).status);
    return found;
  };
  assert.deepEqual(await statuses(3, '192.0.2.1'), [200, 200, 429]);
  assert.deepEqual(await statuses(1, '192.0.2.2'), [200]);
  const refused = await ask('192.0.2.1');
  assert.equal(refused.json().error.type, 'rate_limited');
  assert.deepEqual([refused.headers['retry-after'], refused.headers.connection], ['1', 'close']);
  assert.match((await metrics.show()).text, /http_requests_shed_total\{reason="unauthenticated"\} 2/);
  await clock.advance(500);
  assert.deepEqual(await statuses(2, '192.0.2.1'), [200, 429]);
});

test('a known sender is never counted, from the same address or through the same proxy', async () => {
  const { ask } = await serveLimited(1);
  await ask('192.0.2.1');
  for (let count = 0; count < 5; count++)
    assert.equal((await ask('192.0.2.1', { authorization: KNOWN })).status, 200);
  assert.equal((await ask('192.0.2.1')).status, 429);
});

test('requests for unknown routes count too', async () => {
  const { ask } = await serveLimited(2);
  const statuses = [];
  for (let count = 0; count < 3; count++) statuses.push((await ask('192.0.2.1', {}, '/none')).status);
  assert.deepEqual(statuses, [404, 404, 429]);
});

test('an IPv6 network of 64 bits counts as one address, as do all forms of an IPv4 address', async () => {
  for (const [first, second, status] of [
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', 429],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', 200],
    ['::ffff:192.0.2.1', '192.0.2.1', 429],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', 200],
  ] as const) {
    const { ask } = await serveLimited(1);
    await ask(first);
    assert.equal((await ask(second)).status, status, `${first}, ${second}`);
  }
});

test('behind a trusted proxy requests count towards the client', async () => {
  const { ask } = await serveLimited(1);
  const via = (address: string) => ask('10.0.0.1', { 'x-forwarded-for': address });
  assert.deepEqual([(await via('192.0.2.1')).status, (await via('192.0.2.2')).status], [200, 200]);
  assert.equal((await via('192.0.2.1')).status, 429);
});

test('requests pipelined behind the refusal are dropped with the connection', async () => {
  const { server } = await serveLimited(3);
  try {
    const client = await open(await listen(server));
    client.write('GET /things/1 HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
    for (const status of [200, 200, 200, 429]) assert.equal((await client.answer()).status, status);
    await client.closed;
    await assert.rejects(client.answer(), /closed after ""/);
  } finally {
    await server.close();
  }
});

function openLimit() {
  const begun: number[] = [];
  const handle = limitPerSlice((request) => void begun.push(Number(request.url)));
  const ask = (from: number, count: number) => {
    for (let id = from; id < from + count; id++)
      handle({ url: String(id) } as IncomingMessage, {} as ServerResponse);
  };
  return { begun, ask };
}

test('requests beyond the limit of a turn begin in the next ones, in order', async () => {
  const { begun, ask } = openLimit();
  ask(0, 3 * MAX_BEGUN_PER_SLICE);
  assert.equal(begun.length, MAX_BEGUN_PER_SLICE);
  await nextSlice();
  assert.equal(begun.length, 2 * MAX_BEGUN_PER_SLICE);
  ask(3 * MAX_BEGUN_PER_SLICE, 1);
  await nextSlice();
  await nextSlice();
  assert.deepEqual(
    begun,
    Array.from({ length: 3 * MAX_BEGUN_PER_SLICE + 1 }, (_, id) => id),
  );
});

test('a turn without requests gives the next ones the whole limit', async () => {
  const { begun, ask } = openLimit();
  ask(0, 1);
  await nextSlice();
  await nextSlice();
  ask(1, MAX_BEGUN_PER_SLICE);
  assert.equal(begun.length, MAX_BEGUN_PER_SLICE + 1);
});
