/** A scheduled broadcast starts at its time, pauses when that is long past, and fails when it can no longer be sent. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { settleScheduled } from '../../../src/broadcasts/runs/state.ts';
import { AppError } from '../../../src/system/errors.ts';
import { addDomain } from '../../domains/fixtures.ts';
import { failDomain } from '../fixtures.ts';
import { openCampaign } from './campaign.ts';

const HOUR_MS = 3_600_000;

const campaign = await openCampaign();
await campaign.addContact('one@readers.example');
after(() => campaign[Symbol.asyncDispose]());

const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
  campaign.spool.request(method, `/v1${path}`, {
    key: campaign.spool.liveKey,
    ...(body !== undefined && { body }),
  });
const iso = (at: number) => new Date(at).toISOString();
const inMs = (ms: number) => iso(campaign.spool.clock.now() + ms);
const scheduled = (aheadMs: number, more: object = {}) =>
  campaign.draft({ scheduleAt: inMs(aheadMs), ...more });

/** The events of a broadcast, the oldest first. */
async function eventsOf(id: string) {
  const rows = await campaign.spool.app.db.read
    .selectFrom('events')
    .select(['type', 'data'])
    .where('type', 'like', 'broadcast.%')
    .orderBy('id')
    .execute();
  return rows
    .map(({ type, data }) => ({
      type,
      data: JSON.parse(data) as { id: string; pausedReason: string | null },
    }))
    .filter(({ data }) => data.id === id);
}

async function id(path: string, body: object): Promise<string> {
  const made = await ask('POST', path, body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

test('nothing happens before the time, and the broadcast starts at it', async () => {
  const broadcast = await scheduled(HOUR_MS);
  await campaign.work();
  await campaign.spool.clock.advance(HOUR_MS - 1);
  await campaign.work();
  assert.equal((await campaign.show(broadcast)).status, 'scheduled');
  await campaign.spool.clock.advance(1);
  await campaign.work();
  const { status, startedAt, counts } = await campaign.show(broadcast);
  assert.deepEqual([status, startedAt, counts.queued], ['sending', inMs(0), 1]);
});

test('a time that has passed starts the broadcast at once', async () => {
  const broadcast = await scheduled(-30 * 24 * HOUR_MS);
  await campaign.work();
  assert.equal((await campaign.show(broadcast)).status, 'sending');
});

test('a broadcast that is sent, moved or deleted before its time does not start at it', async () => {
  const [sent, moved, draft, deleted] = [
    await scheduled(HOUR_MS),
    await scheduled(HOUR_MS),
    await scheduled(HOUR_MS),
    await scheduled(HOUR_MS),
  ];
  assert.equal((await campaign.act(sent, 'send')).body.status, 'sending');
  await ask('PATCH', `/broadcasts/${moved}`, { scheduleAt: inMs(2 * HOUR_MS) });
  await ask('PATCH', `/broadcasts/${draft}`, { scheduleAt: null });
  assert.equal((await ask('DELETE', `/broadcasts/${deleted}`)).status, 204);
  await campaign.spool.clock.advance(HOUR_MS);
  await campaign.work();
  assert.equal((await campaign.show(moved)).status, 'scheduled');
  assert.equal((await campaign.show(draft)).status, 'draft');
  assert.equal((await ask('GET', `/broadcasts/${deleted}`)).status, 404);
});

test('a scheduled broadcast is canceled, and then is neither started nor changed', async () => {
  const broadcast = await scheduled(HOUR_MS);
  assert.equal((await campaign.act(broadcast, 'cancel')).body.status, 'canceled');
  await campaign.spool.clock.advance(HOUR_MS);
  await campaign.work();
  const { status, counts } = await campaign.show(broadcast);
  assert.deepEqual([status, counts.recipients], ['canceled', 0]);
  for (const change of [{ subject: 'x' }, { scheduleAt: null }, { pace: null }]) {
    const { status: code, body } = await ask('PATCH', `/broadcasts/${broadcast}`, change);
    assert.deepEqual([code, body.error.type], [409, 'invalid_state']);
  }
});

test('a start that is more than an hour late pauses the broadcast, and a resume starts it', async () => {
  const onTime = await scheduled(HOUR_MS);
  const late = await scheduled(HOUR_MS - 1);
  await campaign.spool.clock.advance(2 * HOUR_MS);
  await campaign.work();
  assert.equal((await campaign.show(onTime)).status, 'sending');
  const shown = await campaign.show(late);
  assert.deepEqual([shown.status, shown.pausedReason, shown.startedAt], ['paused', 'late', null]);
  assert.deepEqual(
    (await eventsOf(late)).map(({ type, data }) => [type, data.pausedReason]),
    [['broadcast.paused', 'late']],
  );
  assert.equal((await campaign.act(late, 'send')).status, 409, 'resume is the answer to a pause');
  const [first, second] = await Promise.all([campaign.act(late, 'resume'), campaign.act(late, 'resume')]);
  assert.deepEqual([first.status, second.status].toSorted(), [200, 409]);
  const { status, pausedReason, startedAt } = await campaign.show(late);
  assert.deepEqual([status, pausedReason, startedAt], ['sending', null, inMs(0)]);
});

test('a late broadcast is canceled instead', async () => {
  const late = await scheduled(0);
  await campaign.spool.clock.advance(HOUR_MS + 1);
  await campaign.work();
  assert.equal((await campaign.act(late, 'cancel')).body.status, 'canceled');
  await campaign.work();
  assert.equal((await campaign.show(late)).counts.recipients, 0);
});

test('a broadcast whose topic, template, segment or domain is gone fails with the reason', async () => {
  const topicId = await id('/topics', { name: 'Gone' });
  const html = '{{{unsubscribe_url}}}';
  const templateId = await id('/templates', { name: 'n', subject: 's', html });
  const filter = { op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] };
  const segmentId = await id('/segments', { name: 's', audienceId: campaign.audienceId, filter });
  await addDomain(campaign.spool, { name: 'failing.example', status: 'verified' });
  for (const [more, path, reason] of [
    [{ topicId }, `/topics/${topicId}`, /`topicId` names the topic top_\w+, which no longer exists/],
    [{ html: null, templateId }, `/templates/${templateId}`, /`templateId` names the template/],
    [{ segmentId }, `/segments/${segmentId}`, /`segmentId` names the segment/],
  ] as const) {
    const broadcast = await scheduled(HOUR_MS, more);
    assert.equal((await ask('DELETE', path)).status, 204);
    await campaign.spool.clock.advance(HOUR_MS);
    await campaign.work();
    const { status, failure, startedAt } = await campaign.show(broadcast);
    assert.deepEqual([status, startedAt], ['failed', null]);
    assert.match(failure, reason);
    assert.deepEqual(
      (await eventsOf(broadcast)).map(({ type }) => type),
      ['broadcast.failed'],
    );
    assert.equal((await campaign.act(broadcast, 'send')).status, 409);
    assert.equal((await ask('DELETE', `/broadcasts/${broadcast}`)).status, 204);
  }
  const broadcast = await scheduled(HOUR_MS, { from: 'a@failing.example' });
  failDomain(campaign.spool, 'failing.example');
  await campaign.spool.clock.advance(HOUR_MS);
  await campaign.work();
  const { status, failure } = await campaign.show(broadcast);
  assert.equal(status, 'failed');
  assert.match(failure, /failing\.example is not verified/);
});

test('a broadcast that was changed since it was read is neither paused nor failed', async () => {
  const broadcast = await scheduled(HOUR_MS);
  const row = await campaign.spool.app.db.read
    .selectFrom('broadcasts')
    .select(['id', 'updatedAt'])
    .where('id', '=', broadcast as `brd_${string}`)
    .executeTakeFirstOrThrow();
  await ask('PATCH', `/broadcasts/${broadcast}`, { subject: 'New' });
  const now = campaign.spool.clock.now();
  for (const failure of [undefined, 'x'])
    await campaign.spool.app.db.commit(settleScheduled, { ...row, failure, now });
  assert.equal((await campaign.show(broadcast)).status, 'scheduled');
});

test('a start that is not possible at the moment is tried again', async (t) => {
  const { db } = campaign.spool.app;
  const broadcast = await scheduled(0);
  const commit = db.commit.bind(db);
  const mock = t.mock.method(db, 'commit', (write: { name: string }, input: unknown) =>
    write.name === 'broadcasts.start'
      ? Promise.reject(new AppError('unavailable', 'The disk is full'))
      : commit(write as never, input as never),
  );
  await campaign.work();
  assert.equal((await campaign.show(broadcast)).status, 'scheduled');
  mock.mock.restore();
  await campaign.spool.clock.advance(5_000);
  await campaign.work();
  assert.equal((await campaign.show(broadcast)).status, 'sending');
});
