import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectGarbageOfStart } from '../../src/system/collect-garbage.ts';

test('some seconds after the start its garbage is collected, and the program cannot collect again', async (t) => {
  const garbage = new WeakRef({});
  // A weak reference holds its target until the job that made it ends.
  await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  collectGarbageOfStart();
  t.mock.timers.tick(5_000);
  assert.equal(garbage.deref(), undefined);
  assert.equal(globalThis.gc, undefined);
});
