import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createOverload,
  MAX_LOOP_DELAY_MS,
  MAX_PENDING_SHARE,
  MAX_WRITER_LAG_MS,
} from '../../../src/system/guards/overload.ts';

test('up to its limits the daemon is not overloaded, and beyond each it is', () => {
  const load = { writerLagMs: 0, pendingWrites: 0, pendingBytes: 0, loopDelayMs: 0 };
  let isDiskLow = false;
  const { reasonToRefuse } = createOverload({
    writerLagMs: () => load.writerLagMs,
    pendingWrites: () => load.pendingWrites,
    pendingBytes: () => load.pendingBytes,
    maxPendingWrites: 1_000,
    maxPendingBytes: 5_000,
    loopDelayMs: () => load.loopDelayMs,
    isDiskLow: () => isDiskLow,
  });
  for (const [name, most, reason] of [
    ['writerLagMs', MAX_WRITER_LAG_MS, 'writer_lag'],
    ['pendingWrites', 1_000 * MAX_PENDING_SHARE, 'pending_writes'],
    ['pendingBytes', 5_000 * MAX_PENDING_SHARE, 'pending_bytes'],
    ['loopDelayMs', MAX_LOOP_DELAY_MS, 'event_loop'],
  ] as const) {
    load[name] = most;
    assert.equal(reasonToRefuse('addition'), undefined, name);
    load[name] = most + 1;
    assert.equal(reasonToRefuse('addition'), reason);
    assert.equal(reasonToRefuse('change'), reason);
    load[name] = 0;
  }
  isDiskLow = true;
  assert.equal(reasonToRefuse('addition'), 'disk_reserve');
  assert.equal(reasonToRefuse('change'), undefined);
});
