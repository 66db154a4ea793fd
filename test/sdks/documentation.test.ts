/** The documentation shows the first example of each client library as its own README does, which the suite of the library runs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findBlocks } from '../readme/page.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const blocks = findBlocks(read('docs/client-libraries.md'));

for (const [folder, language] of Object.entries({ node: 'js', python: 'python', go: 'go', php: 'php' })) {
  test(`the example for ${folder} is the first of its own page`, () => {
    const [shown] = blocks.filter((block) => block.language === language);
    const [own] = findBlocks(read(`sdk/${folder}/README.md`)).filter((block) => block.language === language);
    assert.ok(shown);
    assert.equal(shown.text, own?.text);
  });
}
