/** Requests about one broadcast that come at the same time: exactly one of those that exclude each other succeeds. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { App } from '../../../src/app.ts';
import { updateBroadcast } from '../../../src/broadcasts/change.ts';
import { control } from '../../../src/broadcasts/control.ts';
import { resumeBroadcast, startScheduled } from '../../../src/broadcasts/start.ts';
import { createBroadcastKind } from '../../../src/broadcasts/worker.ts';
import { AppError } from '../../../src/system/errors.ts';
import type { Caller } from '../../../src/tenants/authenticate.ts';
import { runDueTasks } from '../../support/tasks.ts';
import { type Campaign, openCampaign } from './campaign.ts';

const HOUR_MS = 3_600_000;
let campaign: Campaign;
let app: App;
let caller: Caller;

before(async () => {
  campaign = await openCampaign();
  ({ app } = campaign.spool);
  caller = {
    tenantId: campaign.spool.tenantId,
    mode: 'live',
    keyId: 'key_1',
    personId: null,
    mailboxId: null,
    domainId: null,
    approval: null,
  };
  for (let index = 0; index < 5; index++) await campaign.addContact(`r${index}@readers.example`);
});
after(() => campaign[Symbol.asyncDispose]());

const inMs = (ms: number) => new Date(campaign.spool.clock.now() + ms).toISOString();
const isInvalidState = (error: unknown) => error instanceof AppError && error.code === 'invalid_state';

/** The app, with something that happens right before the first write of this name. */
function withBefore(name: string, happen: () => Promise<unknown>): App {
  const db: App['db'] = Object.create(app.db);
  let isPending = true;
  db.commit = async (write, input) => {
    if (isPending && write.name === name) {
      isPending = false;
      await happen();
    }
    return app.db.commit(write, input);
  };
  return { ...app, db };
}

test('a broadcast that starts while it is changed is sent as it was, and the change is refused', async () => {
  const id = await campaign.draft();
  const racing = withBefore('broadcasts.replace', () => campaign.act(id, 'send'));
  await assert.rejects(updateBroadcast(racing, caller, { id, given: { subject: 'New' } }), isInvalidState);
  const { status, subject } = await campaign.show(id);
  assert.deepEqual([status, subject], ['sending', 'News, {{firstName|friend}}']);
});

test('a broadcast that is changed while it starts is sent as it is now', async () => {
  const id = await campaign.draft({ scheduleAt: inMs(0) });
  const racing = withBefore('broadcasts.start', () =>
    updateBroadcast(app, caller, { id, given: { subject: 'New' } }),
  );
  assert.equal(await startScheduled(racing, id as `brd_${string}`), undefined);
  const run = await app.db.read
    .selectFrom('broadcastRuns')
    .select('frozen')
    .where('broadcastId', '=', id as `brd_${string}`)
    .executeTakeFirstOrThrow();
  assert.equal(JSON.parse(run.frozen ?? '').subject, 'New');
  assert.equal((await campaign.show(id)).status, 'sending');
});

test('a scheduled broadcast that is moved to tomorrow while it starts is sent tomorrow', async () => {
  const id = await campaign.draft({ scheduleAt: inMs(0) });
  const tomorrow = inMs(24 * HOUR_MS);
  const racing = withBefore('broadcasts.start', () =>
    updateBroadcast(app, caller, { id, given: { scheduleAt: tomorrow } }),
  );
  const kind = createBroadcastKind(racing);
  const runsNow = async () => (await runDueTasks(racing, kind)).includes(id);
  assert.equal(await runsNow(), true);
  const { status, scheduleAt, startedAt } = await campaign.show(id);
  assert.deepEqual([status, scheduleAt, startedAt], ['scheduled', tomorrow, null]);
  assert.equal(await runsNow(), false);
  await campaign.spool.clock.advance(24 * HOUR_MS);
  assert.equal(await runsNow(), true);
  assert.equal((await campaign.show(id)).status, 'sending');
});

test('a broadcast that is made a draft, canceled or deleted while it starts is not started', async () => {
  const key = campaign.spool.liveKey;
  for (const [what, happen, expected] of [
    ['draft', (id: string) => updateBroadcast(app, caller, { id, given: { scheduleAt: null } }), 'draft'],
    ['canceled', (id: string) => campaign.act(id, 'cancel'), 'canceled'],
    ['deleted', (id: string) => campaign.spool.request('DELETE', `/v1/broadcasts/${id}`, { key }), undefined],
  ] as const) {
    const id = await campaign.draft({ scheduleAt: inMs(0) });
    const racing = withBefore('broadcasts.start', () => happen(id));
    assert.equal(await startScheduled(racing, id as `brd_${string}`), undefined);
    const { status, body } = await campaign.spool.request('GET', `/v1/broadcasts/${id}`, { key });
    assert.deepEqual([status === 200 ? body.status : undefined, what], [expected, what]);
  }
});

test('of a pause and the end of a broadcast, one comes first', async () => {
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  await campaign.work();
  await campaign.spool.deliverDue();
  await campaign.spool.clock.advance(100);
  const [pause] = await Promise.all([campaign.act(id, 'pause'), campaign.work()]);
  const { status, counts } = await campaign.show(id);
  assert.deepEqual([pause.status, status].join(), pause.status === 200 ? '200,paused' : '409,sent');
  assert.equal(counts.delivered, 5);
  if (status === 'paused') {
    assert.equal((await campaign.act(id, 'resume')).status, 200);
    await campaign.work();
    assert.equal((await campaign.show(id)).status, 'sent');
  }
});

test('a broadcast that was started once is never started again, nor one that was never started resumed', async () => {
  const id = await campaign.draft({ scheduleAt: inMs(0) });
  await campaign.spool.clock.advance(2 * HOUR_MS);
  await campaign.work();
  assert.equal((await campaign.show(id)).pausedReason, 'late');
  const { keyId: _, ...owner } = caller;
  await assert.rejects(control(app, { owner, id, cause: 'resumed' }), isInvalidState);
  // Another resume starts the broadcast, and a pause follows, before the start of this one is stored.
  const racing = withBefore('broadcasts.start', async () => {
    assert.equal((await campaign.act(id, 'resume')).status, 200);
    await campaign.work();
    assert.equal((await campaign.act(id, 'pause')).status, 200);
  });
  await assert.rejects(resumeBroadcast(racing, caller, id), isInvalidState);
  const { status, counts } = await campaign.show(id);
  assert.deepEqual([status, counts.recipients, counts.queued], ['paused', 5, 5]);
});
