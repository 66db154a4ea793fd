import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countHeld,
  findMaxInterruptedOnProbe,
  findWaitingSuspect,
  listDueSuspects,
} from '../../../src/queue/held/store.ts';
import { explain } from '../../support/explain.ts';

test('held recipients and suspects are each found by an index that holds nothing else', async () => {
  for (const [query, index] of [
    [countHeld, 'recipientsHeldByReason'],
    [findWaitingSuspect, 'recipientsSuspect'],
    [findMaxInterruptedOnProbe, 'recipientsSuspect'],
    [listDueSuspects, 'recipientsSuspect'],
  ] as const satisfies [Parameters<typeof explain>[0], string][]) {
    const plan = await explain(query);
    assert.match(plan.join('\n'), new RegExp(`USING (COVERING )?INDEX ${index}\\b`));
    assert.doesNotMatch(plan.join('\n'), /TEMP B-TREE/);
  }
  // The number is a metric: reading each of a million held rows would stop everything else.
  assert.match((await explain(countHeld)).join('\n'), /USING COVERING INDEX recipientsHeldByReason\b/);
});
