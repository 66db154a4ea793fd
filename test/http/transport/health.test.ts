import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  evaluateHealth,
  MAX_OVERDUE_MS,
  MAX_SILENCE_MS,
  MAX_WRITER_LAG_MS,
  serveHealth,
  type VitalSigns,
} from '../../../src/http/transport/health.ts';
import { serve } from '../serve.ts';

const WELL: VitalSigns = {
  ...{ writerLagMs: 0, writerSilentMs: 0, readerSilentMs: 0, clockBehindMs: 0 },
  ...{ isDiskFull: false, isDiskBelowReserve: false, doThreadsRun: true },
  ...{ oldestDueMs: 0, deliversNothing: false, failsDns: false },
};

test('up to its limits the daemon is healthy, and beyond each of them there is a reason', () => {
  assert.deepEqual(evaluateHealth(WELL), { reasons: [], warnings: [] });
  for (const [name, most, reason] of [
    ['writerLagMs', MAX_WRITER_LAG_MS, 'writer_behind'],
    ['writerSilentMs', MAX_SILENCE_MS, 'writer_silent'],
    ['readerSilentMs', MAX_SILENCE_MS, 'reader_silent'],
  ] as const) {
    assert.deepEqual(evaluateHealth({ ...WELL, [name]: most }).reasons, [], name);
    assert.deepEqual(evaluateHealth({ ...WELL, [name]: most + 1 }).reasons, [reason]);
  }
  const crowded = { ...WELL, isDiskFull: true, isDiskBelowReserve: true };
  assert.deepEqual(evaluateHealth(crowded).reasons, ['disk_full', 'disk_below_reserve']);
});

test('GET /healthz answers 200 when healthy and with a warning, and 503 with reasons and a message otherwise', async () => {
  let signs = WELL;
  const { send } = await serve({}, (server) => serveHealth(server, '1.2.3', () => signs));
  const well = await send({ method: 'GET', url: '/healthz' });
  assert.deepEqual([well.status, well.body], [200, { status: 'ok', version: '1.2.3' }]);
  signs = { ...WELL, clockBehindMs: 61_000 };
  const warned = await send({ method: 'GET', url: '/healthz' });
  assert.equal(warned.status, 200);
  assert.deepEqual([warned.body.status, warned.body.warnings], ['ok', ['clock_behind']]);
  assert.match(warned.body.message, /^The clock of this machine is behind .+\.$/);
  signs = { ...WELL, doThreadsRun: false };
  const delayed = await send({ method: 'GET', url: '/healthz' });
  assert.deepEqual([delayed.status, delayed.body.warnings], [200, ['thread_restarting']]);
  signs = { ...WELL, isDiskBelowReserve: true };
  const ill = await send({ method: 'GET', url: '/healthz' });
  assert.equal(ill.status, 503);
  assert.deepEqual([ill.body.status, ill.body.reasons], ['unavailable', ['disk_below_reserve']]);
  assert.match(ill.body.message, /storage\.reserveMegabytes/);
  assert.match(String(ill.headers['retry-after']), /^[1-9]\d*$/);
});

test('delivery that comes to nothing is a warning, since the daemon itself works', () => {
  for (const [signs, warning] of [
    [{ failsDns: true }, 'dns_failing'],
    [{ deliversNothing: true }, 'nothing_delivered'],
    [{ oldestDueMs: MAX_OVERDUE_MS + 1 }, 'mail_overdue'],
  ] as const)
    assert.deepEqual(evaluateHealth({ ...WELL, ...signs }), { reasons: [], warnings: [warning] });
  assert.deepEqual(evaluateHealth({ ...WELL, oldestDueMs: MAX_OVERDUE_MS }).warnings, []);
});

test('GET /readyz answers 200 while the daemon works and all of its threads run', async () => {
  let signs = WELL;
  const { send } = await serve({}, (server) => serveHealth(server, '1.2.3', () => signs));
  const ready = async () => (await send({ method: 'GET', url: '/readyz' })).status;
  assert.equal(await ready(), 200);
  signs = { ...WELL, deliversNothing: true };
  assert.equal(await ready(), 200);
  signs = { ...WELL, doThreadsRun: false };
  assert.equal(await ready(), 503);
  signs = { ...WELL, isDiskFull: true };
  assert.equal(await ready(), 503);
});
