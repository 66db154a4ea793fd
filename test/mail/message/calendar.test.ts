import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCalendarProblem, normalizeCalendar } from '../../../src/mail/message/calendar.ts';

test('a calendar ends with one line end, whatever line ends it has', () => {
  for (const end of ['', '\n', '\r', '\r\n', '\r\n\n\r'])
    assert.equal(normalizeCalendar(`\ufeffBEGIN:A\nEND:A${end}`), 'BEGIN:A\r\nEND:A\r\n');
  assert.equal(normalizeCalendar('\n\n'), '\r\n');
});

test('a calendar full of line ends takes milliseconds', () => {
  const content = `${'\n'.repeat(250_000)}x`;
  const started = process.cpuUsage();
  for (const given of [content, content.repeat(40)])
    assert.ok(findCalendarProblem({ method: 'PUBLISH', content: normalizeCalendar(given) }));
  const { user, system } = process.cpuUsage(started);
  assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms`);
});
