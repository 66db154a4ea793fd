/** The stubs of the library for Python are those that its tool writes from the OpenAPI document. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outdatedStubs, readPythonStubs } from '../../sdk/tools/types-python.ts';

test('the stubs of the library for Python are current', async () => {
  const stubs = await readPythonStubs();
  const remedy = 'run `node --import ./bin/typescript.ts sdk/tools/types-python.ts`';
  assert.deepEqual(outdatedStubs(stubs), [], remedy);
  assert.deepEqual(outdatedStubs({ 'types.pyi': `${stubs['types.pyi']} ` }), ['types.pyi']);
});
