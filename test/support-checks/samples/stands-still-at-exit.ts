/** The test passes, and the process stands still when it ends. */
import { test } from 'node:test';

test('one that passes', () => {
  process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
