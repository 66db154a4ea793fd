import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { serveMetrics } from '../../../src/http/transport/metrics.ts';
import { createByteBudget } from '../../../src/system/guards/byte-budget.ts';
import { createMetrics } from '../../../src/system/metrics.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { head, listen, open } from '../connection.ts';
import { serve } from '../serve.ts';

const metrics = createMetrics(createFakeClock(0));
const bodies = createByteBudget({ largeBytes: 1_000_000, smallBytes: 0, share: 1 });
const { server, send } = await serve({ metrics, bodies }, (one) => serveMetrics(one, metrics, 'local'));

async function lines(): Promise<string[]> {
  return (await metrics.show()).text.split('\n');
}

test('answers are counted by method, route and status, and never by path', async () => {
  await send({ method: 'GET', url: '/things/1' });
  await send({ method: 'GET', url: '/things/2?x=y' });
  await send({ method: 'GET', url: '/nothing/secret' });
  await send({ method: 'POST', url: '/things', payload: {} });
  await send({ method: 'GET', url: '/broken' });
  const shown = await lines();
  for (const [method, route, status, count] of [
    ['GET', '/things/:id', 200, 2],
    ['GET', 'none', 404, 1],
    ['POST', '/things', 400, 1],
    ['GET', '/broken', 500, 1],
  ] as const) {
    const labels = `method="${method}",route="${route}",status="${status}"`;
    assert.ok(shown.includes(`postrider_http_requests_total{${labels}} ${count}`), labels);
  }
  assert.ok(
    shown.includes('postrider_http_request_duration_seconds_count{method="GET",route="/things/:id"} 2'),
  );
  assert.ok(!shown.join('').includes('secret'));
});

test('the bytes of bodies in flight are shown, and bodies that exceeded the budget are counted', async () => {
  const peer = await open(await listen(server));
  peer.write(head('/things', 700_000));
  await waitUntil(() => bodies.usedBytes > 0);
  assert.ok((await lines()).includes('postrider_http_body_bytes_in_flight 700000'));
  const refused = await send({
    method: 'POST',
    url: '/things',
    headers: { 'content-type': 'application/json' },
    payload: ' '.repeat(400_000),
  });
  assert.equal(refused.status, 503);
  assert.ok((await lines()).includes('postrider_http_requests_shed_total{reason="bodies"} 1'));
  peer.socket.destroy();
  await server.close();
});

test('a peer on this machine reads the metrics; another, or one behind a proxy, finds nothing there', async () => {
  const { server: one } = await serve({}, (other) => serveMetrics(other, metrics, 'local'));
  const ask = async (remoteAddress: string, headers: Record<string, string> = {}) =>
    (await one.inject({ method: 'GET', url: '/metrics', remoteAddress, headers })).statusCode;
  for (const local of ['127.0.0.1', '127.8.9.1']) assert.equal(await ask(local), 200, local);
  for (const foreign of ['192.0.2.1', '10.0.0.1', '128.0.0.1'])
    assert.equal(await ask(foreign), 404, foreign);
  for (const name of [
    'Forwarded',
    'Via',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Real-IP',
  ]) {
    assert.equal(await ask('127.0.0.1', { [name]: 'x' }), 404, name);
  }
  assert.ok(!('/metrics' in one.openApi().paths));
  await one.close();
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

test('a local peer is recognised over IPv6 too', { skip: !hasIpv6 && 'no IPv6 here' }, async () => {
  const { server: one } = await serve({}, (other) => serveMetrics(other, metrics, 'local'));
  await one.listen({ host: '::', port: 0 });
  const address = one.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  for (const host of ['127.0.0.1', '[::1]']) {
    const answer = await fetch(`http://${host}:${port}/metrics`);
    assert.equal(answer.status, 200, host);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(await answer.text(), /^# TYPE postrider_process_resident_memory_bytes gauge$/m);
  }
  await one.close();
});

test('a server for the operator alone shows them to every peer', async () => {
  const { server: one } = await serve({}, (other) => serveMetrics(other, metrics, 'all'));
  const answer = await one.inject({ method: 'GET', url: '/metrics', remoteAddress: '192.0.2.1' });
  assert.equal(answer.statusCode, 200);
  await one.close();
});
