/** A broadcast is sent at its pace, which survives a restart of the work and is changed while it is sent. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BROADCAST_TASKS } from '../../../src/ledger/run-store.ts';
import { findTask } from '../../../src/tasks/store.ts';
import { moveTasks } from '../../../src/tasks/upkeep.ts';
import { openCampaign } from './campaign.ts';

const CONTACTS = 30;
const HOUR_MS = 3_600_000;

const campaign = await openCampaign();
for (let index = 0; index < CONTACTS; index++) await campaign.addContact(`r${index}@readers.example`);
after(() => campaign[Symbol.asyncDispose]());

const patch = (id: string, body: object) =>
  campaign.spool.request('PATCH', `/v1/broadcasts/${id}`, { key: campaign.spool.liveKey, body });
const iso = (at: number) => new Date(at).toISOString();

/** Works for a while, looking every few seconds as the daemon does. Returns the number of copies made. */
async function workFor(id: string, ms: number, stepMs = 5_000): Promise<number> {
  const { clock } = campaign.spool;
  const until = clock.now() + ms;
  await campaign.work();
  while (clock.now() < until) {
    await clock.advance(Math.min(stepMs, until - clock.now()));
    await campaign.work();
  }
  const { recipients, waiting } = (await campaign.show(id)).counts;
  return recipients - waiting;
}

async function start(pace: object | null): Promise<string> {
  const id = await campaign.draft({ pace });
  assert.equal((await campaign.act(id, 'send')).status, 200);
  return id;
}

test('no more copies are made in an hour than the pace allows', async () => {
  const id = await start({ perHour: 60 });
  assert.equal(await workFor(id, 0), 1);
  assert.equal(await workFor(id, 59_999, 59_999), 1);
  assert.equal(await workFor(id, 1, 1), 2);
  assert.equal(await workFor(id, 10 * 60_000), 12);
});

test('the work of another start of the daemon goes on at the same pace', async () => {
  const id = await start({ perHour: 60 });
  assert.equal(await workFor(id, 30_000), 1);
  // Each call of `work` begins anew, as a restart does.
  for (let restart = 0; restart < 10; restart++) await campaign.work();
  assert.equal(await workFor(id, 0), 1);
  assert.equal(await workFor(id, 30_000), 2);
});

test('the pace is changed and removed while the broadcast is sent and while it is paused', async () => {
  const id = await start({ perDay: 1 });
  assert.equal(await workFor(id, 60_000), 1);
  const changed = await patch(id, { pace: { perHour: 3_600 } });
  assert.deepEqual([changed.status, changed.body.pace], [200, { perHour: 3_600 }]);
  const made = await workFor(id, 5_000, 1_000);
  assert.ok(made >= 5 && made <= 7, `${made}`);
  await campaign.act(id, 'pause');
  assert.equal((await patch(id, { pace: null })).body.pace, null);
  assert.equal(await workFor(id, 60_000), made, 'nothing is made while it is paused');
  await campaign.act(id, 'resume');
  assert.equal(await workFor(id, 0), CONTACTS);
});

test('all copies are made by the time that was asked for, and not much earlier', async () => {
  const id = await start({ finishBy: iso(campaign.spool.clock.now() + HOUR_MS) });
  const half = await workFor(id, HOUR_MS / 2);
  assert.ok(half >= CONTACTS / 2 - 2 && half <= CONTACTS / 2 + 2, `${half}`);
  assert.equal(await workFor(id, HOUR_MS / 2), CONTACTS);
});

test('nothing else of a broadcast that is sent can be changed', async () => {
  const id = await start({ perHour: 60 });
  const before = await campaign.show(id);
  for (const change of [
    { subject: 'x' },
    { subject: 'x', pace: null },
    { scheduleAt: null },
    { scheduleAt: iso(0), pace: null },
  ]) {
    const { status, body } = await patch(id, change);
    assert.deepEqual([status, body.error.type], [409, 'invalid_state']);
    assert.equal(body.error.message, 'A broadcast that is sending cannot be changed, apart from its `pace`');
  }
  for (const pace of [{}, { perHour: 0 }, { finishBy: iso(0) }])
    assert.equal((await patch(id, { pace })).status, 400);
  assert.deepEqual(await campaign.show(id), before);
  await campaign.act(id, 'cancel');
  const { status, body } = await patch(id, { pace: null });
  assert.deepEqual([status, body.error.message], [409, 'A broadcast that is canceled cannot be changed']);
});

test('a run goes on when the wall clock is set back', async () => {
  const id = await start(null);
  const { app, clock } = campaign.spool;
  const dueAtOf = async (reference: string) =>
    (await findTask(app.db.read, { kind: BROADCAST_TASKS, reference }))?.dueAt;
  const scheduledAt = clock.now() + HOUR_MS;
  const scheduled = await campaign.draft({ scheduleAt: iso(scheduledAt) });
  const now = clock.now() - 24 * HOUR_MS;
  await moveTasks(app.db, { now, setBackMs: 24 * HOUR_MS });
  assert.deepEqual([await dueAtOf(id), await dueAtOf(scheduled)], [now, now + HOUR_MS]);
  assert.equal((await campaign.show(scheduled)).scheduleAt, iso(scheduledAt));
  assert.equal(await workFor(id, 0), CONTACTS);
  await clock.advance(HOUR_MS - 1);
  await campaign.work();
  assert.equal((await campaign.show(scheduled)).status, 'scheduled');
});
