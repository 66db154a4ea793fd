import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../support/fake-clock.ts';
import { idleGuards } from '../../support/idle-guards.ts';

test('an app that uses up its memory leaves that of the others alone', () => {
  const { memory } = idleGuards(createFakeClock(0));
  const { control, ...others } = memory;
  assert.equal(control.open('root').take(16 * 1024 * 1024), true);
  assert.equal(control.open('root').take(16 * 1024 * 1024), false);
  for (const [name, budget] of Object.entries(others)) {
    assert.equal(budget.usedBytes, 0, name);
    assert.equal(budget.open('root').take(1024 * 1024), true, name);
  }
});
