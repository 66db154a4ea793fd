import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressKey } from '../../src/mail/address.ts';
import { explainLocalPart } from '../../src/mailboxes/local-part.ts';

const ALLOWED = [
  ...[
    'ann',
    'o=k!',
    'jürgen',
    'straße',
    'İstanbul',
    'ĳ'.normalize('NFKC'),
    'иван.петров-2',
    'Σίσυφος',
    'привет_мир',
  ],
  ...['用户', '佐藤taro', 'ユーザー', '한글1', 'ㄅㄆ', 'สมชาย', 'नमस्ते', 'राम१', 'გიორგი', 'ቤት', 'հայ'],
  ...['דוד', 'דוד.1', 'دعم', 'محمد٢', 'x\u0323\u0302', 'ü'.repeat(32)],
];

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  octets: ['ü'.repeat(33), 'क़'.repeat(10) + 'ü'.repeat(3)],
  'at most 64': ['a'.repeat(65), 'ü'.repeat(33)],
  'stand for others': ['ａｎｎ', 'ﬁn', 'ªb', '①', 'K\u212b\u2126\u1d2c'],
  'only letters': ['☺', 'o’neil', 'a\u200db', 'a\u00b7b', '\u0301a', '1\u0301', 'a.\u0301b', '‱', '·ü'],
  'one script': ['pаypal', 'αb', 'ивaн', '한글カ', 'ᏣᎳᎩ', '𐌰', 'ыü'],
  'begin with a letter': ['1דוד', 'דוד-', '.-דוד', 'محمد٠1', '٠دعم'],
};

test('a local part has the letters of one script that people use', () => {
  for (const localPart of ALLOWED)
    assert.equal(explainLocalPart(addressKey(localPart)), undefined, localPart);
});

test('what cannot be typed, read or told apart is refused, and the refusal says why', () => {
  for (const [why, localParts] of Object.entries(REFUSED))
    for (const localPart of localParts)
      assert.ok(explainLocalPart(addressKey(localPart))?.includes(why), `${localPart}: ${why}`);
});
