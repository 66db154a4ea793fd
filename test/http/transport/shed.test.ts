import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShedLog, shedWrites } from '../../../src/http/transport/shed.ts';
import { createOverload, type OverloadReason } from '../../../src/system/guards/overload.ts';
import type { Log } from '../../../src/system/log.ts';
import { createMetrics } from '../../../src/system/metrics.ts';
import { createWakeups } from '../../../src/system/wakeups.ts';
import { startWork } from '../../../src/system/worker.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { IDLE_LOAD } from '../../support/idle-guards.ts';
import { serve } from '../serve.ts';

test('an overloaded daemon refuses writes with when to come back, and answers reads', async () => {
  const metrics = createMetrics(createFakeClock(0));
  let reason: OverloadReason | undefined;
  const { send } = await serve({}, (server) => {
    void server.register((scope, _options, done) => {
      shedWrites(scope, { overload: { reasonToRefuse: () => reason }, metrics });
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
      shedWrites(scope, { overload: createOverload({ ...IDLE_LOAD, isDiskLow: () => isLow }), metrics });
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

test('shed requests are logged in one line every ten seconds, with a sum for each reason', async () => {
  const clock = createFakeClock(0);
  const metrics = createMetrics(clock);
  const lines: [object, string][] = [];
  const write = (fields: object, message: string) => lines.push([fields, message]);
  const log = { info: write, error() {} } as unknown as Log;
  const work = startWork(
    { clock, log, wakeups: createWakeups() } as never,
    createShedLog({ clock, log, metrics }),
  );
  const shed = (reason: string, times: number) => metrics.shedRequests.inc({ reason }, times);
  await clock.advance(10_000);
  assert.deepEqual(lines, []);
  shed('writer_lag', 1_000);
  shed('bodies', 2);
  await clock.advance(9_999);
  assert.deepEqual(lines, []);
  shed('writer_lag', 1);
  await clock.advance(1);
  const first = { requests: 1_003, reasons: { writer_lag: 1_001, bodies: 2 }, seconds: 10 };
  assert.deepEqual(lines, [[first, 'requests shed']]);
  await clock.advance(10_000);
  shed('bodies', 3);
  await clock.advance(10_000);
  assert.deepEqual(lines.slice(1), [[{ requests: 3, reasons: { bodies: 3 }, seconds: 10 }, 'requests shed']]);
  await work.stop(0);
});
