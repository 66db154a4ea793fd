import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxAgeMs, readSchedule } from '../../../src/emails/request/schedule.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const YEAR_MS = 366 * 24 * HOUR_MS;

const iso = (epochMs: number) => new Date(epochMs).toISOString();

test('a time that has passed, or is less than 10 seconds ahead, is now; what was asked for is kept', () => {
  for (const aheadMs of [-YEAR_MS * 20, -1, 0, 9_999]) {
    assert.deepEqual(readSchedule(iso(NOW + aheadMs), NOW), { scheduledAt: NOW + aheadMs, datedAt: NOW });
  }
  const ahead = NOW + 10_000;
  assert.deepEqual(readSchedule(iso(ahead), NOW), { scheduledAt: ahead, datedAt: ahead });
});

test('a broadcast email is retried for a shorter time', () => {
  const delivery = { transactionalMaxAgeHours: 48, broadcastMaxAgeHours: 24 } as never;
  assert.equal(maxAgeMs({ delivery }, 'transactional'), 48 * HOUR_MS);
  assert.equal(maxAgeMs({ delivery }, 'broadcast'), 24 * HOUR_MS);
});
