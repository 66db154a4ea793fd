import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeMemory } from '../../../src/doctor/checks/memory.ts';

const MEGABYTE = 1024 * 1024;

test('a machine that is sold with 1 GB suffices, and less is named', () => {
  const levels = [960, 700, 300].map((megabytes) => judgeMemory(megabytes * MEGABYTE).level);
  assert.deepEqual(levels, ['ok', 'warn', 'fail']);
});
