import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  element,
  readElements,
  textElement,
  UnreadableDocumentError,
  xmlDocument,
} from '../../src/mail/xml.ts';

/** Returns the leaf elements of a document, each with its path. */
function leavesOf(xml: string): [path: string, text: string][] {
  const leaves: [string, string][] = [];
  readElements(xml, { onLeaf: (path, text) => leaves.push([path, text]), onEnd() {} });
  return leaves;
}

const nested = (depth: number) => `${'<a>'.repeat(depth)}x${'</a>'.repeat(depth)}`;

test('elements are read to a depth of sixteen, and a document with deeper ones is refused', () => {
  assert.deepEqual(leavesOf(nested(16)), [[Array(16).fill('a').join('/'), 'x']]);
  assert.throws(() => leavesOf(nested(17)), UnreadableDocumentError);
  // Without end, at the beginning of something large.
  assert.throws(() => leavesOf('<a>'.repeat(100_000)), UnreadableDocumentError);
});

test('names and texts are cut, however many pieces a text has', () => {
  const name = 'n'.repeat(100);
  assert.deepEqual(leavesOf(`<${name}>x</${name}>`), [['n'.repeat(64), 'x']]);
  for (const text of ['x'.repeat(5_000), '&lt;'.repeat(5_000), '<![CDATA[x]]>y'.repeat(5_000)])
    assert.equal(leavesOf(`<a>${text}</a>`)[0]?.[1].length, 1_000);
});

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
