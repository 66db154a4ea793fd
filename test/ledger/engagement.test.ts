/** What is counted of opens and clicks of the copies of a broadcast. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countEngagement, listLinkClicks } from '../../src/ledger/engagement/store.ts';
import { findCounts, insertCounts, insertRows } from '../../src/ledger/store.ts';
import { newId } from '../../src/system/ids.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

const broadcastId = newId('brd', 0);
const tenantId = newId('ten', 0);
const [ada, bob] = [newId('ct', 0), newId('ct', 1)];

async function openLedger() {
  const { tx, close } = openMemoryDatabase();
  await insertCounts(tx, broadcastId);
  const rows = [ada, bob].map((contactId) => ({
    ...{ contactId, address: `${contactId}@a.example`, state: 'waiting' as const },
    ...{ reason: null, mergeValues: null },
  }));
  await insertRows(tx, { broadcastId, tenantId, now: 1 }, rows);
  const counts = async () => {
    const { opened, uniqueOpened, clicked, uniqueClicked } = (await findCounts(tx, broadcastId)) ?? {};
    return [opened, uniqueOpened, clicked, uniqueClicked];
  };
  const count = (contactId: typeof ada, engagement: Parameters<typeof countEngagement>[2]) =>
    countEngagement(tx, { broadcastId, contactId }, engagement);
  return { tx, counts, count, close };
}

test('each person counts once, and each open and click in all', async () => {
  const { tx, count, counts, close } = await openLedger();
  await count(ada, { kind: 'open', at: 10, isMachine: false });
  await count(ada, { kind: 'open', at: 20, isMachine: false });
  await count(bob, { kind: 'click', link: 1, at: 30, isMachine: false });
  await count(bob, { kind: 'click', link: 1, at: 40, isMachine: false });
  await count(bob, { kind: 'click', link: 0, at: 50, isMachine: false });
  await count(ada, { kind: 'click', link: 1, at: 60, isMachine: false });
  assert.deepEqual(await counts(), [2, 1, 4, 2]);
  await count(bob, { kind: 'open', at: 70, isMachine: false });
  assert.deepEqual(await counts(), [3, 2, 4, 2]);
  assert.deepEqual(await tx.selectFrom('broadcastEngagements').selectAll().execute(), [
    { broadcastId, contactId: ada, openedAt: 10, clickedAt: 60, links: '[1]' },
    { broadcastId, contactId: bob, openedAt: 70, clickedAt: 30, links: '[1,0]' },
  ]);
  assert.deepEqual(await listLinkClicks(tx, broadcastId), [
    { broadcastId, number: 0, clicks: 1, uniqueClicks: 1, machineClicks: 0 },
    { broadcastId, number: 1, clicks: 3, uniqueClicks: 2, machineClicks: 0 },
  ]);
  close();
});

test('machines count for the links alone', async () => {
  const { tx, count, counts, close } = await openLedger();
  await count(ada, { kind: 'open', at: 10, isMachine: true });
  await count(ada, { kind: 'click', link: 2, at: 10, isMachine: true });
  await count(ada, { kind: 'click', link: 2, at: 11, isMachine: true });
  assert.deepEqual(await counts(), [0, 0, 0, 0]);
  assert.deepEqual(await tx.selectFrom('broadcastEngagements').selectAll().execute(), []);
  assert.deepEqual(await listLinkClicks(tx, broadcastId), [
    { broadcastId, number: 2, clicks: 0, uniqueClicks: 0, machineClicks: 2 },
  ]);
  close();
});

test('a copy that the ledger does not have counts nothing', async () => {
  const { tx, count, counts, close } = await openLedger();
  for (const isMachine of [true, false]) {
    await count(newId('ct', 2), { kind: 'open', at: 10, isMachine });
    await count(newId('ct', 2), { kind: 'click', link: 0, at: 10, isMachine });
  }
  assert.deepEqual(await counts(), [0, 0, 0, 0]);
  assert.deepEqual(await listLinkClicks(tx, broadcastId), []);
  close();
});
