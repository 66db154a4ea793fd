import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, textElement, xmlDocument } from '../../../src/mail/xml/write.ts';

test('texts and attributes keep their characters, and XML that they hold is text', () => {
  const hostile = `<b a='1'>&amp;]]> "é😀`;
  const document = xmlDocument(element('a', textElement('b', hostile, { id: hostile }), { version: '1' }));
  const escaped = `&#60;b a='1'&#62;&#38;amp;]]&#62; &#34;é😀`;
  assert.equal(
    document,
    `<?xml version="1.0" encoding="UTF-8"?>\n<a version="1">\n<b id="${escaped}">${escaped}</b>\n</a>\n`,
  );
});

test('characters that XML forbids become question marks', () => {
  assert.equal(textElement('a', '\u0000b\u001f\ud800c\uffff\t'), '<a>?b??c?\t</a>\n');
});
