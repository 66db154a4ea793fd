import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShedLog } from '../../../src/http/transport/shed-log.ts';
import type { Log } from '../../../src/system/log.ts';
import { createMetrics } from '../../../src/system/metrics.ts';
import { createWakeups } from '../../../src/system/wakeups.ts';
import { startWork } from '../../../src/system/worker.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

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
