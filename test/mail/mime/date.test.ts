import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDate } from '../../../src/mail/mime/date.ts';

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
