import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDate, parseSentDate } from '../../../src/mail/date.ts';

const NOON = Date.UTC(2026, 10, 24, 12, 0, 0);

for (const text of [
  'Tue, 24 Nov 2026 12:00:00 +0000',
  'Tue, 24 Nov 2026 13:00:00 +0100 (CET)',
  '24 Nov 2026 12:00:00 GMT',
  'Tue, 24 Nov 2026 12:00:00 UTC',
  'Tue, 24 Nov 2026 04:00:00 PST',
  'Tuesday, 24-Nov-2026 07:00:00 EST',
  'Tue, 24 Nov 2026 12:00 +00:00',
  'Tue, 24 Nov 2026 17:30:00 +0530',
])
  test(`${text} is a date`, () => assert.equal(parseDate(text), NOON));

for (const text of [
  '',
  'tomorrow',
  'Tue, 24 Foo 2026 12:00:00 +0000',
  '99 Nov 2026 12:00:00',
  'x'.repeat(1_000),
])
  test(`${text.slice(0, 40)} is no date`, () => assert.equal(parseDate(text), null));

test('the day of a message is that of its sender, and its time is in UTC', () => {
  for (const [text, at, day] of [
    ['Sun, 31 Dec 2000 16:01:33 -0800', '2001-01-01T00:01:33Z', '2000-12-31'],
    ['1 Jan 25 00:30 +0100', '2024-12-31T23:30:00Z', '2025-01-01'],
    ['1 Jan 99 12:00:00 EST', '1999-01-01T17:00:00Z', '1999-01-01'],
    ['1 Jan 125 12:00 GMT', '2025-01-01T12:00:00Z', '2025-01-01'],
    ['Mon, 3 (third) Feb 2025 10:00:00 (noon) +0000', '2025-02-03T10:00:00Z', '2025-02-03'],
    // A zone or a time that is not valid (RFC 5256 section 2.2).
    ['3 Feb 2025 10:00:00 +9999', '2025-02-03T10:00:00Z', '2025-02-03'],
    ['3 Feb 2025 25:00:00 +0100', '2025-02-02T23:00:00Z', '2025-02-03'],
    ['3 February 2025', '2025-02-03T00:00:00Z', '2025-02-03'],
  ] as const)
    assert.deepEqual(parseSentDate(text), { at: Date.parse(at), day }, text);
});

test('a date without a valid day is none', () => {
  for (const text of ['', 'yesterday', '31 Feb 2025 10:00:00', '0 Jan 2025', '1 Foo 2025', '10:00:00'])
    assert.equal(parseSentDate(text), null, text);
});
