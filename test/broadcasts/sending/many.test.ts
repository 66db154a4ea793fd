/** Several broadcasts of one tenant, and one that waits for its copies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBroadcastKind } from '../../../src/broadcasts/worker.ts';
import { BROADCAST_TASKS } from '../../../src/ledger/run-store.ts';
import { runDueTasks } from '../../support/tasks.ts';
import { openCampaign } from './campaign.ts';

test('a broadcast is served although an earlier one of its tenant is due again and again', async () => {
  await using campaign = await openCampaign();
  const { app, clock } = campaign.spool;
  for (const name of ['a', 'b', 'c']) await campaign.addContact(`${name}@readers.example`);
  for (let count = 0; count < 2; count++) {
    const id = await campaign.draft({ pace: { perDay: 1 } });
    await campaign.act(id, 'send');
    await clock.advance(1_000);
  }
  const kind = createBroadcastKind(app);
  const served = new Set<string>();
  for (let steps = 0; steps < 4; steps++) {
    for (const broadcastId of await runDueTasks(app, kind, 1)) served.add(broadcastId);
    await clock.advance(10_000);
  }
  assert.equal(served.size, 2);
});

test('a broadcast takes no step while its copies wait for their first attempt, and ends once the last was attempted', async () => {
  await using campaign = await openCampaign();
  const { app, clock } = campaign.spool;
  for (const name of ['a', 'b']) await campaign.addContact(`${name}@readers.example`);
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  await campaign.work();
  await clock.advance(3_600_000);
  assert.deepEqual(await runDueTasks(app, createBroadcastKind(app)), []);
  const woken = Promise.withResolvers<void>();
  const stopListening = app.wakeups.listen('tasks', (subjects = []) => {
    if (subjects.includes(`${BROADCAST_TASKS} ${campaign.spool.tenantId}`)) woken.resolve();
  });
  await campaign.spool.deliverDue();
  await woken.promise;
  stopListening();
  await clock.advance(100);
  await campaign.work();
  assert.equal((await campaign.show(id)).status, 'sent');
});
