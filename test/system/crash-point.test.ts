import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const PROGRAM = `
  import { createCrashPoint } from ${JSON.stringify(new URL('../../src/system/crash-point.ts', import.meta.url).href)};
  const [, armed, reached, kind] = process.argv;
  createCrashPoint(armed === 'none' ? undefined : armed)(reached, kind);
  console.log('still here');
`;

function reach(armed: string, ...reached: string[]) {
  const args = ['--input-type=module', '--eval', PROGRAM, armed, ...reached];
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

test('a point that is armed for a thread ends only that, which is the process on the main thread', () => {
  const { signal, stdout } = reach('thread:smtp-mid-data', 'smtp-mid-data');
  assert.deepEqual({ signal, stdout }, { signal: null, stdout: '' });
  assert.equal(reach('thread:smtp-mid-data', 'smtp-connected').stdout, 'still here\n');
});

test('a point that is armed for work of one kind spares that of the others', () => {
  const ended = { signal: 'SIGKILL', stdout: '' };
  const spared = { signal: null, stdout: 'still here\n' };
  assert.deepEqual(reach('inbound-task-run/bounce', 'inbound-task-run', 'bounce'), ended);
  assert.deepEqual(reach('inbound-task-run/bounce', 'inbound-task-run', 'forward'), spared);
  assert.deepEqual(reach('inbound-task-run', 'inbound-task-run', 'forward'), ended);
});
