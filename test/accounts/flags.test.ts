import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELETED, flagNames, readFlags, SEEN, SYSTEM_FLAGS } from '../../src/accounts/flags.ts';

test('system flags are bits in any case, and keywords are sorted and keep their first case', () => {
  assert.deepEqual(readFlags(['\\SEEN', '$Forwarded', '\\deleted', 'Apple', '$forwarded']), {
    flags: SEEN | DELETED,
    keywords: ['$Forwarded', 'Apple'],
  });
});

test('\\Recent and unknown flags with a backslash are left out', () => {
  assert.deepEqual(readFlags(['\\Recent', '\\Foo', '\\*']), { flags: 0, keywords: [] });
});

test('flags are written with system flags first', () => {
  assert.deepEqual(flagNames({ flags: 31, keywords: ['a'] }), [...SYSTEM_FLAGS, 'a']);
  assert.deepEqual(flagNames({ flags: 0, keywords: [] }), []);
});
