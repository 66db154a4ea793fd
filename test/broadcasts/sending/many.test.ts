/** A tenant with many broadcasts that do not get on: they neither hold up each other nor those of another tenant. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { createBroadcastWork } from '../../../src/broadcasts/worker.ts';
import { listDueRuns } from '../../../src/ledger/run-store.ts';
import { openCampaign } from './campaign.ts';

const OTHERS = 1_200;

test('a thousand broadcasts of one tenant leave room for the first one of another tenant', async () => {
  await using campaign = await openCampaign();
  const { app, dataDir, tenantId } = campaign.spool;
  const { tenantId: other } = await campaign.spool.addTenant('other');
  await campaign.addContact('a@readers.example');
  const first = await campaign.draft();
  await campaign.act(first, 'send');
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  const copy = (table: string, key: string, values: object) => {
    const row = database.prepare(`SELECT * FROM ${table} WHERE ${key} = ?`).get(first);
    const copied = Object.assign({}, row, values);
    const columns = Object.keys(copied);
    database.prepare(`INSERT INTO ${table} VALUES (${columns.map((name) => `@${name}`)})`).run(copied);
  };
  database.transaction(() => {
    for (let index = 0; index <= OTHERS; index++) {
      const id = `${first}${index}`;
      const isLast = index === OTHERS;
      const owner = { tenantId: isLast ? other : tenantId };
      copy('broadcasts', 'id', { id, ...owner });
      copy('broadcastRuns', 'broadcastId', { broadcastId: id, dueAt: isLast ? 2 : 1, ...owner });
    }
  })();
  database.close();
  const due = await listDueRuns(app.db.read, campaign.spool.clock.now());
  assert.equal(due.length, 1_000);
  assert.equal(due.filter((run) => run.tenantId === other).length, 1);
});

test('a broadcast is served although an earlier one of its tenant is due again and again', async () => {
  await using campaign = await openCampaign();
  const { app, clock } = campaign.spool;
  for (const name of ['a', 'b', 'c']) await campaign.addContact(`${name}@readers.example`);
  for (let count = 0; count < 2; count++) {
    const id = await campaign.draft({ pace: { perDay: 1 } });
    await campaign.act(id, 'send');
    await clock.advance(1_000);
  }
  const work = createBroadcastWork(app);
  const served = new Set<string>();
  for (let steps = 0; steps < 4; steps++) {
    const { items } = await work.lease(1);
    for (const item of items) {
      served.add(item.broadcastId);
      await work.run(item);
    }
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
  const work = createBroadcastWork(app);
  await clock.advance(3_600_000);
  assert.deepEqual(await work.lease(1), { items: [], nextDueAt: undefined });
  const woken = Promise.withResolvers<void>();
  const stopListening = app.wakeups.listen('broadcasts', () => woken.resolve());
  await campaign.spool.deliverDue();
  await woken.promise;
  stopListening();
  await clock.advance(100);
  await campaign.work();
  assert.equal((await campaign.show(id)).status, 'sent');
});
