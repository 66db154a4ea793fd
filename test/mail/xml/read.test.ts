import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readElements, UnreadableDocumentError } from '../../../src/mail/xml/read.ts';

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
