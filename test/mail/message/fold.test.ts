import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldText } from '../../../src/mail/message/fold.ts';

test('letters that differ in case alone are equal', () => {
  for (const [one, other] of [
    ['grüße', 'GRÜßE'],
    ['ДА', 'да'],
    ['Σίσυφος', 'ΣΊΣΥΦΟΣ'.replace(/Σ$/, 'ς')],
    ['ĳ', 'Ĳ'],
    ['𐐨', '𐐀'],
    ['Å', '\u212b'],
    ['é', 'e\u0301'],
    ['ｆｕｌｌ', 'FULL'],
  ] as const)
    assert.equal(foldText(one), foldText(other), one);
});

test('each letter becomes its simple title case, then its decomposition', () => {
  for (const [text, folded] of [
    ['abc', 'ABC'],
    ['é', 'E\u0301'],
    ['ß', 'ß'],
    ['ǆ', 'Dz\u030c'],
    ['Ǆ', 'Dz\u030c'],
    ['ა', 'ა'],
    ['ᾳ', '\u0391\u0345'],
    ['ᾀ', '\u0391\u0313\u0345'],
    ['ŉ', 'ʼn'],
    ['ı', 'I'],
    ['İ', 'I\u0307'],
    ['ſ', 'S'],
  ] as const)
    assert.equal(foldText(text), folded, text);
});

test('different letters stay different', () => {
  assert.notEqual(foldText('e'), foldText('é'));
  assert.notEqual(foldText('ss'), foldText('ß'));
});

test('what a text contains, its folded form contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (inner, more) => {
      assert.ok(foldText(`${more} ${inner} ${more}`).includes(foldText(inner)));
    }),
  );
});
