import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CRASH_POINTS } from '../src/crash-points.ts';

test('every crash point is reached in one file of the feature that it belongs to', () => {
  const root = fileURLToPath(new URL('../src/', import.meta.url));
  const files = globSync('**/*.ts', { cwd: root }).filter((path) => path !== 'crash-points.ts');
  const code = files.map((path) => readFileSync(`${root}${path}`, 'utf8'));
  for (const name of CRASH_POINTS)
    assert.equal(code.filter((text) => text.includes(`'${name}'`)).length, 1, name);
});
