import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { maxAgeMs, parseTimestamp, readSchedule } from '../../../src/emails/request/schedule.ts';
import { AppError } from '../../../src/system/errors.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const YEAR_MS = 366 * 24 * HOUR_MS;

function refuses(text: string): void {
  assert.throws(
    () => readSchedule(text, NOW),
    (error) => error instanceof AppError && error.options.param === 'scheduledAt',
    text,
  );
}

const iso = (epochMs: number) => new Date(epochMs).toISOString();

test('without scheduledAt an email leaves now', () => {
  assert.deepEqual(readSchedule(undefined, NOW), { scheduledAt: null, datedAt: NOW });
});

test('a time with an offset is read whatever its form', () => {
  const expected = Date.parse('2026-06-01T10:00:00.000Z');
  for (const text of [
    '2026-06-01T10:00:00Z',
    '2026-06-01T10:00Z',
    '2026-06-01T10:00:00.000Z',
    '2026-06-01T10:00:00,000000000Z',
    '2026-06-01T12:00:00+02:00',
    '2026-06-01T12:00:00+0200',
    '2026-06-01T12:00+02',
    '2026-05-31T22:30:00-11:30',
    '2026-06-01T10:00:00-00:00',
  ]) {
    assert.equal(parseTimestamp(text), expected, text);
  }
  assert.equal(parseTimestamp('2026-06-01T10:00:00.5Z'), expected + 500);
  assert.equal(parseTimestamp('2026-06-01T10:00:00.123999Z'), expected + 123);
  assert.equal(parseTimestamp('2028-02-29T00:00:00Z'), Date.UTC(2028, 1, 29));
  assert.equal(parseTimestamp('0001-01-01T00:00:00Z'), Date.parse('0001-01-01T00:00:00Z'));
});

test('what is no time with an offset is refused', () => {
  for (const text of [
    ...['', 'tomorrow', 'in 1 hour', '1772366400', '2026-06-01', '2026-06-01T10:00:00', '20260601T100000Z'],
    ...['2026-06-01 10:00:00Z', '2026-06-01t10:00:00z', '2026-6-1T10:00:00Z', ' 2026-06-01T10:00:00Z'],
    ...['2026-06-01T10:00:00Z\n', '2026-06-01T10:00:00.Z', '2026-06-01T10Z', '+02026-06-01T10:00:00Z'],
    ...['2026-02-30T10:00:00Z', '2026-02-29T10:00:00Z', '2026-13-01T10:00:00Z', '2026-00-01T10:00:00Z'],
    ...['2026-06-00T10:00:00Z', '2026-06-31T10:00:00Z', '2026-06-01T24:00:00Z', '2026-06-01T10:60:00Z'],
    ...[
      '2026-06-01T10:00:60Z',
      '2026-06-01T10:00:00+24:00',
      '2026-06-01T10:00:00+02:60',
      '٢٠٢٦-06-01T10:00:00Z',
    ],
  ]) {
    refuses(text);
  }
});

test('a time that has passed, or is less than 10 seconds ahead, is now; what was asked for is kept', () => {
  for (const aheadMs of [-YEAR_MS * 20, -1, 0, 9_999]) {
    assert.deepEqual(readSchedule(iso(NOW + aheadMs), NOW), { scheduledAt: NOW + aheadMs, datedAt: NOW });
  }
  const ahead = NOW + 10_000;
  assert.deepEqual(readSchedule(iso(ahead), NOW), { scheduledAt: ahead, datedAt: ahead });
});

test('more than a year ahead is refused', () => {
  assert.equal(readSchedule(iso(NOW + YEAR_MS), NOW).datedAt, NOW + YEAR_MS);
  refuses(iso(NOW + YEAR_MS + 1));
  refuses('9999-12-31T23:59:59Z');
});

test('every time JavaScript writes is read back, and no other text throws anything but a refusal', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date(NOW + YEAR_MS), noInvalidDate: true }), (date) => {
      assert.equal(parseTimestamp(date.toISOString()), date.getTime());
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9T:.,Z+-]{0,32}$/), (text) => {
      const read = parseTimestamp(text);
      assert.ok(read === undefined || Number.isSafeInteger(read));
    }),
  );
});

test('a broadcast is tried for less long', () => {
  const delivery = { transactionalMaxAgeHours: 48, broadcastMaxAgeHours: 24 } as never;
  assert.equal(maxAgeMs({ delivery }, 'transactional'), 48 * HOUR_MS);
  assert.equal(maxAgeMs({ delivery }, 'broadcast'), 24 * HOUR_MS);
});
