import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from '../../../src/queue/sessions/decided-transport.ts';

test('the local part of a simulator address selects the result, and a label is ignored', () => {
  assert.equal(simulate('delivered@simulator.x.example', 1).outcome.kind, 'delivered');
  assert.equal(simulate('BOUNCED+7@simulator.x.example', 1).outcome.kind, 'bounced');
  assert.equal(simulate('delayed@simulator.x.example', 1).outcome.kind, 'deferred');
  assert.equal(simulate('delayed@simulator.x.example', 2).outcome.kind, 'delivered');
  assert.equal(simulate('anything@simulator.x.example', 1).outcome.kind, 'delivered');
});

test('complaints, opens and clicks follow a delivery', () => {
  for (const feedback of ['complained', 'opened', 'clicked']) {
    const verdict = simulate(`${feedback}@simulator.x.example`, 1);
    assert.deepEqual([verdict.outcome.kind, verdict.feedback], ['delivered', feedback]);
  }
});
