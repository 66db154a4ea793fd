import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const PROGRAM = `
  import { createCrashPoint } from ${JSON.stringify(new URL('../../src/system/crash-point.ts', import.meta.url).href)};
  const [, armed, reached] = process.argv;
  createCrashPoint(armed === 'none' ? undefined : armed)(reached);
  console.log('still here');
`;

function reach(armed: string, reached: string) {
  const args = ['--input-type=module', '--eval', PROGRAM, armed, reached];
  const { signal, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { signal, stdout };
}

test('reaching the armed point ends the process as kill -9 does', () => {
  assert.deepEqual(reach('smtp-mid-data', 'smtp-mid-data'), { signal: 'SIGKILL', stdout: '' });
});

test('reaching any other point, or one while none is armed, does nothing', () => {
  for (const armed of ['smtp-connected', 'none']) {
    assert.deepEqual(reach(armed, 'smtp-mid-data'), { signal: null, stdout: 'still here\n' });
  }
});
