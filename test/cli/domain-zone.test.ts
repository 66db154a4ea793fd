import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zoneFile } from '../../src/cli/domain-records.ts';
import { formatList, formatTable } from '../../src/cli/table.ts';
import { parseZone } from '../support/zone.ts';

const record = (type: string, value: string, purpose = 'x') => ({ type, name: 'a.example', value, purpose });

test('each record is a line with absolute names, under a comment that says what it is for', () => {
  const text = zoneFile([
    record('A', '192.0.2.1', 'host'),
    record('AAAA', '2001:db8::1', 'host'),
    record('MX', '10 b.example', 'bounces'),
    record('CNAME', 'b.example', 'links'),
    record('TXT', 'v=spf1 -all', 'SPF'),
  ]);
  assert.deepEqual(text.split('\n'), [
    '; host',
    'a.example. 3600 IN A 192.0.2.1',
    'a.example. 3600 IN AAAA 2001:db8::1',
    '; bounces',
    'a.example. 3600 IN MX 10 b.example.',
    '; links',
    'a.example. 3600 IN CNAME b.example.',
    '; SPF',
    'a.example. 3600 IN TXT "v=spf1 -all"',
  ]);
});

for (const length of [0, 1, 254, 255, 256, 510, 511, 1_000]) {
  test(`a text of ${length} characters is cut into strings of at most 255, and is whole again when read`, () => {
    const value = 'abcdefg'.repeat(200).slice(0, length);
    const text = zoneFile([record('TXT', value)]);
    const [read] = parseZone(text).get('a.example') ?? [];
    assert.ok(read?.type === 'TXT');
    assert.equal(read.strings.join(''), value);
    assert.equal(read.strings.length, Math.max(Math.ceil(length / 255), 1));
    const written = text.match(/"[^"]*"/g) ?? [];
    assert.ok(written.every((part) => part.length <= 257));
  });
}

test('quotes and backslashes are escaped', () => {
  const value = 'say "a\\b"';
  const [read] = parseZone(zoneFile([record('TXT', value)])).get('a.example') ?? [];
  assert.deepEqual(read?.type === 'TXT' && read.strings, [value]);
});

test('columns are as wide as their widest cell, and lines have no trailing spaces', () => {
  const table = formatTable(
    ['id', 'name'],
    [
      ['1', 'long name'],
      ['1000', ''],
    ],
  );
  assert.equal(table, 'ID    NAME\n1     long name\n1000');
});

test('an empty list is shown as a sentence', () => {
  assert.equal(formatList(['id'], [], 'Nothing yet.'), 'Nothing yet.');
});
