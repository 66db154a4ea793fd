import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notesOn } from './notes.ts';
import { readSource } from './source.ts';

const notesIn = (text: string) => notesOn([readSource('db/x.ts', text)]);

test('notes for the review name prose that cannot be understood alone, and are no failures', () => {
  for (const text of [
    '/** Of one tenant, both modes together. */',
    '/** Whether another would find something. */',
    '// Asked before they are held.',
    'const a = 1; // Those of the machine.',
    '/** Says much. */\nconst a = 1;\nexport function* f() {}',
    "export const f = defineWrite('a.f', async () => {});",
    '/** Keys. */\nlet a = 1;\nexport const MIN_AGE_MS = 1;',
  ])
    assert.equal(notesIn(text).length, 1, text);
  for (const text of [
    '/** Offset of the body. */',
    '// A comment of two lines names what it is about.\n// Of two such lines only the first is an opening.',
    "const a = '// Of one tenant';",
    '/** Returns a. */\nexport function o(a: 1): 1;\nexport function o(a: 2): 2;\nexport function o() {}',
    '/** Keys. */\nexport const MAX_KEYS = 1;\nconst MAX_LIVE_KEYS = 1;\nconst a = { MAX_B: 1 };',
  ])
    assert.deepEqual(notesIn(text), [], text);
});
