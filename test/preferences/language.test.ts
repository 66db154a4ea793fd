import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseLanguage, textsOf } from '../../src/preferences/language.ts';
import { maskAddress } from '../../src/preferences/mask-address.ts';

test('the language that the reader prefers among ours is chosen, and English otherwise', () => {
  for (const [header, language] of [
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['FR-ca,fr;q=0.8', 'fr'],
    ['en;q=0.2, es-MX;q=0.9', 'es'],
    ['it, pt;q=0.5', 'en'],
    ['de;q=0, fr;q=0.1', 'fr'],
    ['de;q=wrong, es', 'es'],
    ['__proto__, constructor, fr', 'fr'],
    [`${'x,'.repeat(10_000)}de`, 'en'],
  ] as const)
    assert.equal(chooseLanguage(header), language, String(header).slice(0, 40));
});

test('every language has every text, and each text names what it is about', () => {
  for (const language of ['en', 'de', 'fr', 'es'] as const) {
    const { askTopic, leftTopic, askAll, leftAll, returned, saved } = textsOf(language);
    for (const text of [askTopic, leftTopic]) assert.match(text('News', 'r@a'), /News.*r@a/, language);
    for (const text of [askAll, leftAll, returned, saved]) assert.match(text('r@a'), /r@a/, language);
  }
});

test('a masked address keeps its first character and its domain', () => {
  assert.equal(maskAddress('ada@example.com'), 'a•••@example.com');
  assert.equal(maskAddress('"a@b"@example.com'), '"•••@example.com');
  assert.equal(maskAddress('😀x@example.com'), '😀•••@example.com');
});
