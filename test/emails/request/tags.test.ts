import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTagFilter, readTags } from '../../../src/emails/request/tags.ts';
import { AppError } from '../../../src/system/errors.ts';

function refuses(param: string, run: () => unknown): void {
  assert.throws(run, (error) => error instanceof AppError && error.options.param === param);
}

test('keys and values have 1 to 256 characters, none of them a control character', () => {
  const long = '✓'.repeat(256);
  const wide = '😀'.repeat(256);
  assert.deepEqual(readTags({ a: 'b', [long]: wide, __proto: ' ', 'x:y': '"' }), [
    { key: 'a', value: 'b' },
    { key: long, value: wide },
    { key: '__proto', value: ' ' },
    { key: 'x:y', value: '"' },
  ]);
  for (const bad of ['', 'x'.repeat(257), 'a\nb', 'a\rb', 'a\0b', 'a\tb', '\u0085', '\ud800', 'a\udc00']) {
    refuses('tags', () => readTags({ [bad]: 'x' }));
    refuses('tags.a', () => readTags({ a: bad }));
  }
  assert.deepEqual(readTags(undefined), []);
});

test('a filter may be split at each of its colons', () => {
  assert.deepEqual(readTagFilter('a:b'), [{ key: 'a', value: 'b' }]);
  assert.deepEqual(readTagFilter('url:https://x'), [
    { key: 'url', value: 'https://x' },
    { key: 'url:https', value: '//x' },
  ]);
  for (const bad of [
    '',
    'a',
    ':',
    'a:',
    ':b',
    'a:b\0',
    `${'x'.repeat(257)}:b`,
    ':'.repeat(2_000),
    'a:\ud800',
  ]) {
    refuses('tag', () => readTagFilter(bad));
  }
});
