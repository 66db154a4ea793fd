import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern } from '../../../src/mail/imap/list-pattern.ts';

test('* stands for any characters, and % for those of one level', () => {
  for (const [pattern, names, others] of [
    ['*', ['', 'a', 'a/b'], []],
    ['%', ['', 'a'], ['a/b', '/']],
    ['a/%', ['a/', 'a/b'], ['a', 'a/b/c', 'b/a/b']],
    ['%/%', ['a/b', '/'], ['a', 'a/b/c']],
    ['a*c', ['ac', 'a/b/c'], ['acd', 'bac']],
    ['%b*', ['ab/c', 'b'], ['a/b']],
    ['%%**a', ['a', 'x/a'], ['ab']],
    ['ab', ['ab'], ['a', 'abc', 'AB']],
    ['\u{1f4e7}%', ['\u{1f4e7}', '\u{1f4e7}x'], ['\u{1f4e8}']],
    ['', [''], ['a']],
  ] as const) {
    const matches = compilePattern(pattern);
    for (const name of names) assert.equal(matches(name), true, `${pattern} ${name}`);
    for (const name of others) assert.equal(matches(name), false, `${pattern} ${name}`);
  }
});

test('a pattern of many wildcards takes little time, and one that is too long matches nothing', () => {
  assert.equal(compilePattern('*a'.repeat(500))('a'.repeat(499)), false);
  assert.equal(compilePattern('*a'.repeat(500))('a'.repeat(500)), true);
  assert.equal(compilePattern(`${'a'.repeat(1_024)}*`)('a'.repeat(1_024)), false);
});
