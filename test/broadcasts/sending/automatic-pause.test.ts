/** A broadcast pauses by itself: too many bounces or complaints, no quota, a domain that may not send. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { addDomain } from '../../domains/fixtures.ts';
import { storePlan } from '../../support/store-plan.ts';
import { failDomain } from '../fixtures.ts';
import { openCampaign } from './campaign.ts';

const CONTACTS = 60;

const campaign = await openCampaign();
for (let index = 0; index < CONTACTS; index++) await campaign.addContact(`r${index}@readers.example`);
after(() => campaign[Symbol.asyncDispose]());

/** Changes the counts of a broadcast, as the outcomes of many copies would. */
function setCounts(id: string, counts: Record<string, number>): void {
  const columns = Object.keys(counts).map((name) => `${name} = @${name}`);
  change(`UPDATE broadcastCounts SET ${columns} WHERE broadcastId = @id`, { id, ...counts });
}

function makeDue(id: string): void {
  const { tenantId } = campaign.spool;
  change(
    `INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt) VALUES ('broadcasts', @id, @tenantId, @tenantId, 1)`,
    { id, tenantId },
  );
}

function change(statement: string, values: object): void {
  const database = new Sqlite(join(campaign.spool.dataDir, 'postrider.db'));
  try {
    database.prepare(statement).run(values);
  } finally {
    database.close();
  }
}

async function pausedEvents(id: string): Promise<(string | null)[]> {
  const rows = await campaign.spool.app.db.read
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'broadcast.paused')
    .orderBy('id')
    .execute();
  const events = rows.map(({ data }) => JSON.parse(data) as { id: string; pausedReason: string | null });
  return events.filter((event) => event.id === id).map(({ pausedReason }) => pausedReason);
}

async function start(more: object = {}): Promise<string> {
  const id = await campaign.draft(more);
  assert.equal((await campaign.act(id, 'send')).status, 200);
  return id;
}

/** Status, reason and number of copies. */
async function stateOf(id: string) {
  const { status, pausedReason, counts } = await campaign.show(id);
  return [status, pausedReason, counts.recipients - counts.waiting];
}

test('too many bounces or complaints pause a broadcast, and a resume judges only what comes later', async () => {
  for (const [reason, column, tolerated, tooMany] of [
    ['bounces', 'bouncedPermanently', 25, 26],
    ['complaints', 'complained', 1, 2],
  ] as const) {
    const id = await start({ pace: { perHour: 60 } });
    await campaign.work();
    setCounts(id, { sent: 500, [column]: tolerated });
    await campaign.spool.clock.advance(60_000);
    await campaign.work();
    assert.deepEqual(await stateOf(id), ['sending', null, 2]);
    setCounts(id, { [column]: tooMany });
    await campaign.spool.clock.advance(60_000);
    await campaign.work();
    assert.deepEqual(await stateOf(id), ['paused', reason, 2], 'no copy is made in the write that pauses');
    assert.deepEqual(await pausedEvents(id), [reason]);

    assert.equal((await campaign.act(id, 'resume')).status, 200);
    await campaign.spool.clock.advance(60_000);
    await campaign.work();
    assert.equal((await stateOf(id))[0], 'sending', 'the same counts do not pause it again');
    setCounts(id, { sent: 999, [column]: tooMany + 400 });
    await campaign.work();
    assert.equal((await stateOf(id))[0], 'sending', 'fewer than 500 copies since the resume');
    setCounts(id, { sent: 1_000 });
    await campaign.spool.clock.advance(60_000);
    await campaign.work();
    assert.deepEqual((await stateOf(id)).slice(0, 2), ['paused', reason]);
    assert.deepEqual(await pausedEvents(id), [reason, reason]);
    await campaign.act(id, 'cancel');
    await campaign.work();
  }
});

test('rates are still judged when every copy is made', async () => {
  const id = await start();
  await campaign.work();
  assert.deepEqual(await stateOf(id), ['sending', null, CONTACTS]);
  setCounts(id, { sent: 500, bouncedPermanently: 100 });
  makeDue(id);
  await campaign.work();
  assert.deepEqual(await stateOf(id), ['paused', 'bounces', CONTACTS]);
  await campaign.act(id, 'cancel');
  await campaign.work();
});

test('a quota that runs out pauses the broadcast, and with more quota it goes on', async () => {
  const limit = async (monthlyEmails: number | null) => {
    await storePlan(campaign.spool.app.db, 'unlimited', { monthlyEmails });
    campaign.spool.app.wakeups.notify('tenants');
  };
  await limit(10);
  const id = await start();
  await campaign.work();
  assert.deepEqual(await stateOf(id), ['paused', 'quota', 10]);
  assert.deepEqual(await pausedEvents(id), ['quota']);
  await campaign.act(id, 'resume');
  await campaign.work();
  assert.deepEqual(await stateOf(id), ['paused', 'quota', 10]);
  await limit(null);
  await campaign.act(id, 'resume');
  await campaign.work();
  assert.deepEqual(await stateOf(id), ['sending', null, CONTACTS]);
  await campaign.act(id, 'cancel');
  await campaign.work();
});

test('a domain that may no longer send pauses the broadcast, and nobody bounces', async () => {
  await addDomain(campaign.spool, { name: 'lapsed.example', status: 'verified' });
  const id = await start({ from: 'a@lapsed.example', pace: { perHour: 60 } });
  await campaign.work();
  failDomain(campaign.spool, 'lapsed.example');
  await campaign.spool.clock.advance(60_000);
  await campaign.work();
  assert.deepEqual(await stateOf(id), ['paused', 'domain', 1]);
  const { counts } = await campaign.show(id);
  assert.deepEqual([counts.waiting, counts.queued, counts.bounced], [CONTACTS - 1, 1, 0]);
  assert.deepEqual(await pausedEvents(id), ['domain']);
});
