import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTime } from '../../src/imports/times.ts';

const at = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());

test('the times of other products are read, and one without a zone is in UTC', () => {
  for (const [text, expected] of [
    ['1700000000', '2023-11-14T22:13:20.000Z'],
    ['1700000000.5', '2023-11-14T22:13:20.500Z'],
    ['1700000000123', '2023-11-14T22:13:20.123Z'],
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04', '2026-01-02T03:04:00.000Z'],
    ['2026/01/02 03:04:05 UTC', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.123456', '2026-01-02T03:04:05.123Z'],
    ['2026-01-02 03:04:05 +0100', '2026-01-02T02:04:05.000Z'],
    ['2019-12-17T08:58:33-05:00', '2019-12-17T13:58:33.000Z'],
    ['Fri, 21 Oct 2026 11:02:55 GMT', '2026-10-21T11:02:55.000Z'],
    ['Tue, 07 Jan 2025 19:25:45 UTC', '2025-01-07T19:25:45.000Z'],
    ['7 Jan 2025 19:25:45 +0200', '2025-01-07T17:25:45.000Z'],
    ['7 Jan 2025 19:25:45', '2025-01-07T19:25:45.000Z'],
  ] as const) {
    assert.equal(at(readTime(text)), expected, text);
  }
});

test('a text that is no certain time is none', () => {
  for (const text of [
    ...['', '2020', '20260102', '123456789', '99999999999999', '01/02/2026', '2026-13-40', '2026-01-02x'],
    ...['yesterday', '0000-00-00 00:00:00', 'Fri, 99 Oct 2026 11:02:55 GMT', '-1700000000', '1e9'],
  ]) {
    assert.equal(readTime(text), undefined, text);
  }
});
