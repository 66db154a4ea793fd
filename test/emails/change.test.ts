import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { recoverQueue } from '../../src/queue/worker.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { SIMULATOR, senderOf } from './fixtures.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const spool = await openSpool();
after(() => spool.close());

const { accepted, refused } = senderOf(() => spool);
const iso = (epochMs: number) => new Date(epochMs).toISOString();
const later = (ms = HOUR_MS) => iso(spool.clock.now() + ms);

const cancel = (id: string, key = spool.testKey) => spool.request('POST', `/v1/emails/${id}/cancel`, { key });
const reschedule = (id: string, scheduledAt: unknown, key = spool.testKey) =>
  spool.request('PATCH', `/v1/emails/${id}`, { key, body: { scheduledAt } });

async function message(id: string) {
  return spool.app.db.read
    .selectFrom('messages')
    .select(['datedAt', 'expiresAt', 'createdAt'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

const types = (email: { events: { type: string }[] }) => email.events.map(({ type }) => type);

test('a scheduled email is queued, and leaves when it is due and not before', async () => {
  const email = await accepted({ to: `delivered@${SIMULATOR}`, scheduledAt: later() });
  assert.deepEqual([email.status, email.scheduledAt], ['queued', later()]);
  const { datedAt, expiresAt } = await message(email.id);
  assert.equal(datedAt, spool.clock.now() + HOUR_MS);
  assert.equal(expiresAt, datedAt + 2 * DAY_MS, 'its age counts from its date');
  await spool.clock.advance(HOUR_MS - 1);
  await spool.deliverDue();
  assert.equal((await spool.request('GET', `/v1/emails/${email.id}`)).body.status, 'queued');
  await spool.clock.advance(1);
  await spool.deliverDue();
  assert.equal((await spool.request('GET', `/v1/emails/${email.id}`)).body.status, 'delivered');
});

test('a scheduledAt that has passed sends now, and is shown as it was asked for', async () => {
  const email = await accepted({ to: `delivered@${SIMULATOR}`, scheduledAt: '2020-01-01T01:00:00+01:00' });
  assert.equal(email.scheduledAt, '2020-01-01T00:00:00.000Z');
  assert.equal((await message(email.id)).datedAt, spool.clock.now());
  await spool.deliverDue();
  assert.equal((await spool.request('GET', `/v1/emails/${email.id}`)).body.status, 'delivered');
});

test('scheduledAt needs an offset, exists on the calendar, and is at most a year ahead', async () => {
  for (const scheduledAt of [
    '2026-06-01T00:00:00',
    '2026-02-30T00:00:00Z',
    'tomorrow',
    '',
    7,
    null,
    later(367 * DAY_MS),
  ]) {
    await refused('scheduledAt', { scheduledAt });
  }
});

test('a field by the name that another resource or another API gives it is refused, not dropped', async () => {
  for (const [slip, meant] of [
    ['scheduleAt', 'scheduledAt'],
    ['schedule_at', 'scheduledAt'],
    ['attachment', 'attachments'],
    ['header', 'headers'],
    ['Tag', 'tags'],
    ['template', 'templateId'],
    ['template_id', 'templateId'],
    ['topic', 'topicId'],
    ['topic_id', 'topicId'],
    ['reply_to', 'replyTo'],
    ['variable', 'variables'],
  ] as const) {
    await refused(slip, { [slip]: later() }, new RegExp(`did you mean \`${meant}\``));
  }
  for (const other of ['schedule', 'body', 'toString', '__proto']) await accepted({ [other]: 'x' });
});

test('an email none of which was tried can be canceled, and is then never delivered', async () => {
  const email = await accepted({
    to: ['a@rcpt.example', 'b@rcpt.example'],
    scheduledAt: later(),
  });
  const { status, body } = await cancel(email.id);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.status, 'canceled');
  assert.equal(body.recipientCounts.canceled, 2);
  assert.deepEqual(types(body), ['email.queued', 'email.queued', 'email.canceled', 'email.canceled']);
  await spool.clock.advance(2 * HOUR_MS);
  await spool.deliverDue();
  const after = await spool.request('GET', `/v1/emails/${email.id}`);
  assert.deepEqual(after.body, body);
});

test('an email that is not scheduled can be canceled as long as its delivery has not begun', async () => {
  const email = await accepted({});
  assert.equal((await cancel(email.id)).body.status, 'canceled');
});

test('a suppressed recipient does not keep an email from being canceled', async () => {
  const to = [`suppressed@${SIMULATOR}`, 'a@rcpt.example'];
  const { id } = await accepted({ to, scheduledAt: later() });
  const { status, body } = await cancel(id);
  assert.deepEqual([status, body.recipientCounts.canceled, body.recipientCounts.suppressed], [200, 1, 1]);
  assert.equal(body.status, 'canceled');
});

test('an email that is delivered or was canceled before is neither canceled nor rescheduled', async () => {
  const sent = await accepted({ to: `delivered@${SIMULATOR}` });
  await spool.deliverDue();
  const canceled = await accepted({ scheduledAt: later() });
  await cancel(canceled.id);
  for (const { id } of [sent, canceled]) {
    for (const answer of [await cancel(id), await reschedule(id, later())]) {
      assert.deepEqual([answer.status, answer.body.error.type], [409, 'invalid_state']);
    }
  }
});

test('an email that an ended daemon may have sent is not rescheduled, and is canceled because it waits again', async () => {
  const { id } = await accepted({ to: `delivered@${SIMULATOR}` });
  await spool.claim('an earlier start');
  await recoverQueue(spool.app);
  assert.equal((await reschedule(id, later())).status, 409);
  assert.equal((await cancel(id)).body.status, 'canceled');
});

test('an email that is being delivered cannot be canceled at this moment', async () => {
  const id = await spool.accept(['a@gone.example', 'b@rcpt.example']);
  await spool.claim('another start');
  const { status, body } = await cancel(id, spool.liveKey);
  assert.deepEqual([status, body.error.type], [409, 'invalid_state']);
  assert.match(body.error.message, /being delivered at this moment/);
  const { recipientCounts } = await spool.email(id);
  assert.deepEqual([recipientCounts.sent, recipientCounts.canceled], [2, 0], 'nothing was changed');
  await recoverQueue(spool.app);
  assert.equal((await cancel(id, spool.liveKey)).body.status, 'canceled');
});

test('an email that was tried is canceled while it waits; each recipient that waited has an event', async () => {
  const id = await spool.accept(['a@no-such.example', 'b@no-such.example']);
  await spool.deliverDue();
  assert.equal((await spool.email(id)).recipientCounts.deferred, 2);
  const { status, body } = await cancel(id, spool.liveKey);
  assert.deepEqual([status, body.status, body.recipientCounts.canceled], [200, 'canceled', 2]);
  assert.equal(types(body).filter((type) => type === 'email.canceled').length, 2);
  await spool.clock.advance(DAY_MS);
  await spool.deliverDue();
  assert.deepEqual((await spool.email(id)).status, 'canceled');
  assert.equal((await cancel(id, spool.liveKey)).status, 409, 'it is canceled already');
});

test('an email that one recipient has got stays delivered when the others are canceled', async () => {
  const id = await spool.accept([`delivered@${SIMULATOR}`, 'b@no-such.example']);
  await spool.deliverDue();
  const { status, body } = await cancel(id, spool.liveKey);
  assert.deepEqual([status, body.status], [200, 'delivered']);
  assert.deepEqual([body.recipientCounts.delivered, body.recipientCounts.canceled], [1, 1]);
});

test('rescheduling moves the date, the age and the delivery', async () => {
  const { id } = await accepted({ to: `delivered@${SIMULATOR}`, scheduledAt: later() });
  const { status, body } = await reschedule(id, later(DAY_MS));
  assert.deepEqual([status, body.id, body.scheduledAt, body.status], [200, id, later(DAY_MS), 'queued']);
  const { datedAt, expiresAt } = await message(id);
  assert.deepEqual([datedAt, expiresAt], [spool.clock.now() + DAY_MS, spool.clock.now() + 3 * DAY_MS]);
  await spool.clock.advance(2 * HOUR_MS);
  await spool.deliverDue();
  assert.equal((await spool.request('GET', `/v1/emails/${id}`)).body.status, 'queued');
  const { body: now } = await reschedule(id, iso(spool.clock.now() - DAY_MS));
  assert.equal(now.scheduledAt, iso(spool.clock.now() - DAY_MS));
  assert.equal((await message(id)).datedAt, spool.clock.now());
  await spool.deliverDue();
  assert.equal((await spool.request('GET', `/v1/emails/${id}`)).body.status, 'delivered');
});

test('a broadcast keeps the age of broadcasts when it is rescheduled', async () => {
  const topic = await spool.request('POST', '/v1/topics', { body: { name: 'News' } });
  const { id } = await accepted({ type: 'broadcast', topicId: topic.body.id, scheduledAt: later() });
  const first = await message(id);
  assert.equal(first.expiresAt - first.datedAt, DAY_MS);
  await reschedule(id, later(DAY_MS));
  const second = await message(id);
  assert.equal(second.expiresAt - second.datedAt, DAY_MS);
});

test('rescheduling takes one time, with the same rules', async () => {
  const { id } = await accepted({ scheduledAt: later() });
  for (const bad of [undefined, null, 7, '', '2026-06-01T00:00:00', later(367 * DAY_MS)]) {
    const { status, body } = await reschedule(id, bad);
    assert.deepEqual([status, body.error.param], [400, 'scheduledAt'], String(bad));
  }
  const misspelt = await spool.request('PATCH', `/v1/emails/${id}`, { body: { scheduled_at: later() } });
  assert.match(misspelt.body.error.message, /did you mean `scheduledAt`/);
});

test('a reschedule refuses fields that cannot change by name, and ignores unknown fields', async () => {
  const { id } = await accepted({ scheduledAt: later() });
  const patch = (body: unknown) => spool.request('PATCH', `/v1/emails/${id}`, { body });
  for (const field of [
    'id',
    'subject',
    'to',
    'status',
    'createdAt',
    'variables',
    'recipients',
    'messageId',
  ]) {
    for (const body of [{ [field]: null }, { scheduledAt: later(DAY_MS), [field]: 'x' }]) {
      const answer = await patch(body);
      assert.deepEqual([answer.status, answer.body.error.param], [400, field]);
      assert.match(answer.body.error.message, /cannot be changed/);
    }
  }
  assert.equal((await spool.request('GET', `/v1/emails/${id}`)).body.scheduledAt, later());
  for (const other of ['other', '__proto', 'constructor', 'toString'])
    assert.equal((await patch({ scheduledAt: later(DAY_MS), [other]: 'x' })).status, 200, other);
});

test('exactly one of many concurrent cancellations wins', async () => {
  const id = await spool.accept('a@rcpt.example', { scheduledAt: later() });
  const key = spool.liveKey;
  const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(id, key)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)]);
  const { body } = await spool.request('GET', `/v1/emails/${id}`, { key });
  assert.deepEqual(types(body), ['email.queued', 'email.canceled']);
  assert.equal(body.from, `Ada <ada@${SENDER_DOMAIN}>`);
});

test('a cancellation may come with an empty JSON body, or its type alone', async () => {
  for (const [payload, headers] of [
    [undefined, { 'content-type': 'application/json' }],
    ['{}', { 'content-type': 'application/json' }],
    [undefined, {}],
  ] as const) {
    const { id } = await accepted({ scheduledAt: later() });
    const { statusCode } = await spool.inject({
      method: 'POST',
      url: `/v1/emails/${id}/cancel`,
      headers: { authorization: `Bearer ${spool.testKey}`, ...headers },
      ...(payload !== undefined && { payload }),
    });
    assert.equal(statusCode, 200);
  }
});
