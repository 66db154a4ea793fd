/** Names in other scripts do not turn the sentences of a page around. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isolate } from '../../src/preferences/isolate.ts';

test('a name in a script from right to left is isolated, and others stay as they are', () => {
  assert.equal(isolate('News & Größe'), 'News & Größe');
  assert.equal(isolate('أخبار'), '\u2068أخبار\u2069');
  assert.equal(isolate('חדשות 2030'), '\u2068חדשות 2030\u2069');
});

test('characters that change the direction of text are removed', () => {
  assert.equal(isolate('a\u202eb\u2066c\u200f'), 'abc');
  assert.equal(isolate('\u2069\u202eأ'), '\u2068أ\u2069');
});
