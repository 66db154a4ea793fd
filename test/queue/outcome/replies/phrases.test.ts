import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PhraseIndex } from '../../../../src/queue/outcome/replies/phrases.ts';
import { splitReply } from '../../../../src/queue/outcome/replies/words.ts';

function found(phrases: string[], text: string): string[] {
  return [...new PhraseIndex(phrases).find(splitReply(text).words)].sort();
}

test('phrases match whole words in a row', () => {
  const phrases = ['user unknown', 'user', 'unknown recipient', "doesn't exist"];
  assert.deepEqual(found(phrases, 'The user unknown'), ['user', 'user unknown']);
  assert.deepEqual(found(phrases, 'superuser unknowns'), []);
  assert.deepEqual(found(phrases, 'it doesn’t exist'), ["doesn't exist"]);
});

test('a gap stands for at most eight words, and for none', () => {
  const phrases = ['user * not found'];
  const words = (count: number) => 'x '.repeat(count);
  assert.deepEqual(found(phrases, 'user not found'), phrases);
  assert.deepEqual(found(phrases, `user ${words(8)} not found`), phrases);
  assert.deepEqual(found(phrases, `user ${words(9)} not found`), []);
  assert.deepEqual(found(phrases, `user ${words(9)} user not found`), phrases, 'the nearest word counts');
  assert.deepEqual(found(phrases, 'not found user'), []);
});

test('several gaps chain one after the other', () => {
  const phrases = ['a * b * c'];
  assert.deepEqual(found(phrases, 'a x b x c'), phrases);
  assert.deepEqual(found(phrases, 'b a c b'), []);
});

test('no text makes the search explode', () => {
  const phrases = ['a * a * a * a * a * b', `${'a '.repeat(20)}`, 'a * b'];
  assert.deepEqual(found(phrases, 'a '.repeat(1_000)), [`${'a '.repeat(20)}`]);
});
