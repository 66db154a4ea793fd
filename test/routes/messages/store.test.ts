import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReceivedPart } from '../../../src/routes/messages/store.ts';
import { explain } from '../../support/explain.ts';

test('the operator’s list of a tenant merges the mail of routes and of mailboxes in the order of their ids', async () => {
  const slice = {
    cursor: 'in_2',
    from: undefined,
    until: undefined,
    direction: 'older',
    limit: 10,
  } as const;
  const plan = await explain((tx) =>
    readReceivedPart(tx, { tenantId: 'ten_1', filter: {} }, { slice, scan: 10 }),
  );
  const search =
    'SEARCH receivedMessages USING COVERING INDEX receivedMessagesByTenant (tenantId=? AND isForRoute=? AND id<?)';
  const merged = plan.indexOf('MERGE (UNION ALL)');
  assert.deepEqual(plan.slice(merged, merged + 5), ['MERGE (UNION ALL)', 'LEFT', search, 'RIGHT', search]);
  assert.ok(!plan.some((step) => step.includes('receivedMessagesByTenant (tenantId=?)')), plan.join('\n'));
});
