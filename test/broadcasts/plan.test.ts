/** When and how fast a broadcast is to be sent, before it starts. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BROADCAST_TASKS } from '../../src/ledger/run-store.ts';
import { findTask } from '../../src/tasks/store.ts';
import { addDomain } from '../domains/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { broadcastBody, clientOf } from './fixtures.ts';

const NOW = Date.parse('2027-01-15T08:00:00.000Z');
const clock = createFakeClock(NOW);

const t = await openTestApp({ system: { clock } });
const client = clientOf(t);
const audienceId = (await client.ask('POST', '/audiences', { name: 'Readers' })).body.id;
after(() => t.close());

const iso = (at: number) => new Date(at).toISOString();
const HOUR_MS = 3_600_000;
const create = (more: object = {}) => client.created(broadcastBody(audienceId, more));
const patch = (id: string, change: object) => client.ask('PATCH', `/broadcasts/${id}`, change);
/** Returns the time at which the run of a broadcast is due; undefined when it is not. */
const dueAtOf = async (reference: string) =>
  (await findTask(t.app.db.read, { kind: BROADCAST_TASKS, reference }))?.dueAt;

test('a broadcast with a time is scheduled, and shows time and pace', async () => {
  const made = await create({ scheduleAt: '2027-01-16T09:00:00+01:00', pace: { perDay: 500 } });
  assert.deepEqual(
    [made.status, made.scheduleAt, made.pace],
    ['scheduled', '2027-01-16T08:00:00.000Z', { perDay: 500 }],
  );
  assert.deepEqual(await client.get(made.id), made);
  assert.equal(await dueAtOf(made.id), NOW + 24 * HOUR_MS);
  const { body: page } = await client.ask('GET', '/broadcasts?status=scheduled');
  const { html: _, text: __, ...summary } = made;
  assert.deepEqual(page.data, [summary]);
});

test('a time that has passed, or comes within ten seconds, means now', async () => {
  for (const aheadMs of [-HOUR_MS, 0, 9_999]) {
    const made = await create({ scheduleAt: iso(clock.now() + aheadMs) });
    assert.deepEqual([made.status, made.scheduleAt], ['scheduled', iso(clock.now())]);
  }
  const at = iso(clock.now() + 10_000);
  assert.equal((await create({ scheduleAt: at })).scheduleAt, at);
});

test('a draft is scheduled, moved, given a pace and made a draft again', async () => {
  const draft = await create();
  const [one, two] = [iso(NOW + HOUR_MS), iso(NOW + 2 * HOUR_MS)];
  for (const [change, status, scheduleAt, pace] of [
    [{ scheduleAt: one }, 'scheduled', one, null],
    [
      { pace: { finishBy: '2027-01-20T00:00:00Z' } },
      'scheduled',
      one,
      { finishBy: '2027-01-20T00:00:00.000Z' },
    ],
    [{ scheduleAt: two, subject: 'New' }, 'scheduled', two, { finishBy: '2027-01-20T00:00:00.000Z' }],
    [{ pace: { perHour: 7 } }, 'scheduled', two, { perHour: 7 }],
    [{ scheduleAt: null }, 'draft', null, { perHour: 7 }],
    [{ pace: null }, 'draft', null, null],
  ] as const) {
    const { status: code, body } = await patch(draft.id, change);
    assert.equal(code, 200, JSON.stringify(body));
    assert.deepEqual([body.status, body.scheduleAt, body.pace], [status, scheduleAt, pace]);
    assert.equal((await dueAtOf(draft.id)) ?? null, scheduleAt && Date.parse(scheduleAt));
  }
  const { updatedAt: _, subject, ...rest } = await client.get(draft.id);
  const { updatedAt: __, subject: ___, ...before } = draft;
  assert.deepEqual([rest, subject], [before, 'New']);
});

test('the same time and the same pace are no change', async () => {
  const planned = { scheduleAt: iso(NOW + HOUR_MS), pace: { perHour: 9 } };
  const made = await create(planned);
  await clock.advance(1_000);
  assert.deepEqual((await patch(made.id, planned)).body, made);
});

test('every wrong field is named, those of the plan among them', async () => {
  const body = broadcastBody(audienceId, { replyTo: 'x', scheduleAt: 'x', pace: { finishBy: 'y' } });
  const { body: answer } = await client.ask('POST', '/broadcasts', body);
  assert.deepEqual(
    answer.error.issues.map(({ path }: { path: string }) => path),
    ['replyTo', 'scheduleAt', 'pace.finishBy'],
  );
});

test('a scheduled broadcast is deleted with its plan', async () => {
  const made = await create({ scheduleAt: iso(NOW + HOUR_MS) });
  assert.equal((await client.ask('DELETE', `/broadcasts/${made.id}`)).status, 204);
  assert.equal(await dueAtOf(made.id), undefined);
  assert.equal((await client.ask('GET', `/broadcasts/${made.id}`)).status, 404);
});

test('an audience is not deleted while a broadcast to it, or to a segment of it, is scheduled', async () => {
  const audience = (await client.ask('POST', '/audiences', { name: 'Busy' })).body.id;
  const filter = { op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] };
  const segment = (await client.ask('POST', '/segments', { name: 's', audienceId: audience, filter })).body
    .id;
  const scheduleAt = iso(NOW + HOUR_MS);
  const one = await client.created(broadcastBody(audience, { scheduleAt }));
  const two = await client.created(
    broadcastBody(audience, { audienceId: undefined, segmentId: segment, scheduleAt }),
    t.testKey,
  );
  await client.created(broadcastBody(audience));
  const remove = async () => {
    const { status, body } = await client.ask('DELETE', `/audiences/${audience}`);
    return [status, body.error?.type, body.error?.message, body.error?.details?.scheduledBroadcasts];
  };
  assert.deepEqual(await remove(), [
    409,
    'invalid_state',
    'Audience has 2 broadcasts that are scheduled or not completely sent; cancel them or wait until they are sent',
    2,
  ]);
  await patch(one.id, { scheduleAt: null });
  assert.deepEqual((await remove()).slice(2), [
    'Audience has 1 broadcast that is scheduled or not completely sent; cancel it or wait until it is sent',
    1,
  ]);
  assert.equal((await client.ask('GET', `/segments/${segment}`)).status, 200, 'nothing of it was deleted');
  await client.ask('DELETE', `/broadcasts/${two.id}`);
  assert.deepEqual((await remove())[0], 204);
});

test('a domain is not deleted while a broadcast from it is scheduled', async () => {
  const domain = await addDomain(t, { name: 'busy.example', status: 'verified' });
  const scheduleAt = iso(NOW + HOUR_MS);
  const made = await create({ from: 'a@BUSY.example', scheduleAt });
  await create({ from: 'a@busy.example', pace: { perHour: 5 } });
  const remove = () => client.ask('DELETE', `/domains/${domain.id}`);
  const { status, body } = await remove();
  assert.deepEqual(
    [status, body.error.type, body.error.message, body.error.details],
    [
      409,
      'domain_in_use',
      'Domain has 1 broadcast scheduled or not completely sent; cancel it or wait until it is sent',
      { scheduledEmails: 0, scheduledBroadcasts: 1 },
    ],
  );
  await addDomain(t, { name: 'other.example', status: 'verified' });
  await patch(made.id, { from: 'a@other.example' });
  assert.equal((await remove()).status, 204);
});
