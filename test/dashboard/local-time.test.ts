import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createdWithin, isoTimeOf, localTimeOf } from '../../src/dashboard/local-time.ts';

const CASES: [what: string, local: string, zone: string, expected: string][] = [
  ['in winter', '2027-01-01T09:30', 'Europe/Berlin', '2027-01-01T08:30:00.000Z'],
  ['in summer', '2027-07-01T09:30', 'Europe/Berlin', '2027-07-01T07:30:00.000Z'],
  ['behind UTC', '2027-07-01T23:30', 'America/New_York', '2027-07-02T03:30:00.000Z'],
  ['in a zone with a quarter of an hour', '2027-07-01T00:00', 'Asia/Kathmandu', '2027-06-30T18:15:00.000Z'],
  ['just before clocks go forward', '2027-03-28T01:59', 'Europe/Berlin', '2027-03-28T00:59:00.000Z'],
  ['that the change of clocks leaves out', '2027-03-28T02:30', 'Europe/Berlin', '2027-03-28T01:30:00.000Z'],
  ['that occurs twice', '2027-10-31T02:30', 'Europe/Berlin', '2027-10-31T00:30:00.000Z'],
];

for (const [what, local, zone, expected] of CASES) {
  test(`a local time ${what} is found`, () => assert.equal(isoTimeOf(local, zone), expected));
}

test('a text that is no time, or a day that does not exist, stays for the API to refuse', () => {
  for (const text of ['', 'soon', '2027-02-30T10:00', '2027-13-01T10:00'])
    assert.equal(isoTimeOf(text, 'UTC'), text);
});

test('a form shows the local time of a moment', () => {
  assert.equal(localTimeOf('2027-03-28T01:30:00.000Z', 'Europe/Berlin'), '2027-03-28T03:30');
});

test('both days of a filter are in the list', () => {
  const query = new URLSearchParams({ since: '2026-03-28', until: '2026-03-29' });
  assert.deepEqual(createdWithin(query, 'Europe/Berlin'), {
    createdAfter: '2026-03-27T23:00:00.000Z',
    createdBefore: '2026-03-29T22:00:00.000Z',
  });
});
