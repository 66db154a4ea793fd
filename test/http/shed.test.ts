import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createOverloadCheck,
  MAX_LOOP_DELAY_MS,
  MAX_PENDING_BYTES,
  MAX_PENDING_WRITES,
  MAX_WRITER_LAG_MS,
  type OverloadReason,
  shedWrites,
} from '../../src/http/shed.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { serve } from './serve.ts';

test('up to its limits the daemon is not overloaded, and beyond each it is', () => {
  const load = { writerLagMs: 0, pendingWrites: 0, pendingBytes: 0, loopDelayMs: 0 };
  const check = createOverloadCheck({
    writerLagMs: () => load.writerLagMs,
    pendingWrites: () => load.pendingWrites,
    pendingBytes: () => load.pendingBytes,
    loopDelayMs: () => load.loopDelayMs,
  });
  for (const [name, most, reason] of [
    ['writerLagMs', MAX_WRITER_LAG_MS, 'writer_lag'],
    ['pendingWrites', MAX_PENDING_WRITES, 'pending_writes'],
    ['pendingBytes', MAX_PENDING_BYTES, 'pending_bytes'],
    ['loopDelayMs', MAX_LOOP_DELAY_MS, 'event_loop'],
  ] as const) {
    load[name] = most;
    assert.equal(check(), undefined, name);
    load[name] = most + 1;
    assert.equal(check(), reason);
    load[name] = 0;
  }
});

test('an overloaded daemon refuses writes with when to come back, and answers reads', async () => {
  const metrics = createMetrics(createFakeClock(0));
  let reason: OverloadReason | undefined;
  const { send } = await serve({}, (server) => {
    void server.register((scope, _options, done) => {
      shedWrites(scope, { isOverloaded: () => reason, isDiskLow: () => false, metrics });
      scope.route({
        method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        url: '/v',
        handler: async () => ({}),
      });
      done();
    });
  });
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
  for (const method of methods) assert.equal((await send({ method, url: '/v' })).status, 200, method);
  reason = 'writer_lag';
  for (const method of ['GET', 'HEAD'] as const)
    assert.equal((await send({ method, url: '/v' })).status, 200);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const { status, headers, body } = await send({ method, url: '/v' });
    assert.deepEqual([status, body.error.type], [503, 'unavailable'], method);
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  }
  assert.equal(
    (await send({ method: 'POST', url: '/things', payload: { name: 'a' } })).status,
    200,
    'outside',
  );
  assert.match((await metrics.show()).text, /^postrider_http_requests_shed_total\{reason="writer_lag"\} 4$/m);
  reason = undefined;
  assert.equal((await send({ method: 'POST', url: '/v' })).status, 200);
});

test('below the reserve of the disk additions are refused, and changes, deletions and stops are allowed', async () => {
  const metrics = createMetrics(createFakeClock(0));
  let isLow = true;
  const { send } = await serve({}, (server) => {
    void server.register((scope, _options, done) => {
      shedWrites(scope, { isOverloaded: () => undefined, isDiskLow: () => isLow, metrics });
      const handler = async () => ({});
      scope.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url: '/v', handler });
      scope.route({ method: 'POST', url: '/v/cancel', config: { worksOnLowDisk: true }, handler });
      done();
    });
  });
  for (const method of ['GET', 'PATCH', 'DELETE'] as const)
    assert.equal((await send({ method, url: '/v' })).status, 200, method);
  assert.equal((await send({ method: 'POST', url: '/v/cancel' })).status, 200);
  for (const method of ['POST', 'PUT'] as const) {
    const { status, headers, body } = await send({ method, url: '/v' });
    assert.deepEqual([status, body.error.type], [503, 'unavailable'], method);
    assert.match(body.error.message, /disk .* nearly full/);
    assert.equal(headers['retry-after'], '30');
  }
  assert.match((await metrics.show()).text, /shed_total\{reason="disk_reserve"\} 2$/m);
  isLow = false;
  assert.equal((await send({ method: 'POST', url: '/v' })).status, 200);
});
