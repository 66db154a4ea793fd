/** The process stands still in the middle of a test, deaf to everything. */
import { test } from 'node:test';

test('one that stands still', () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
