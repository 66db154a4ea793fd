/** The classification of recorded opens and clicks, on real emails and with the clock of the test. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Database } from 'better-sqlite3';
import { Value } from 'typebox/value';
import { openWriting } from '../../src/db/connection.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { Tx } from '../../src/db/operation.ts';
import type { EventRow, RecipientState } from '../../src/db/tables.ts';
import type { EngagementRow } from '../../src/db/tracking-tables.ts';
import type { EventType } from '../../src/events/store.ts';
import { findEvent } from '../../src/events/store.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import type { Work } from '../../src/system/worker.ts';
import {
  CLASSIFICATION_DELAY_MS,
  type EngagementRequest,
  recordEngagements,
} from '../../src/tracking/engagements/record.ts';
import { settleEngagements } from '../../src/tracking/settle.ts';
import { createClassificationWork } from '../../src/tracking/worker.ts';
import { eventDataSchema } from '../../src/webhooks/event-schemas.ts';
import { emailBody } from '../emails/fixtures.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createAllRetention } from '../support/retention.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const LINK = 'https://shop.example/sale?a=1&b=2';
const HOUR_MS = 3_600_000;

let clock: FakeClock;
let test1: TestApp;
let side: Tx;
let sideDatabase: Database;
let work: Work<never>;

before(async () => {
  clock = createFakeClock(Date.parse('2026-03-01T12:00:00.000Z'));
  test1 = await openTestApp({ system: { clock } });
  sideDatabase = openWriting(join(test1.dataDir, 'postrider.db'), 'NORMAL');
  side = kyselyOn(sideDatabase);
  work = createClassificationWork(test1.app);
});

after(async () => {
  sideDatabase.close();
  await test1.close();
});

/** Accepts an email and delivers it at once, or puts its recipients into another state. */
async function sendEmail(
  more: Record<string, unknown> = {},
  state: RecipientState = 'delivered',
): Promise<Id<'em'>> {
  const { status, body } = await test1.request('POST', '/v1/emails', { body: emailBody(more) });
  assert.equal(status, 200, JSON.stringify(body));
  const ended = { state, dueAt: state === 'in_flight' ? clock.now() : null, runId: null };
  await side.updateTable('recipients').set(ended).where('messageId', '=', body.id).execute();
  return body.id;
}

async function addAttempt(messageId: string, at: number, durationMs: number): Promise<void> {
  const recipient = await side
    .selectFrom('recipients')
    .select(['id as recipientId', 'tenantId'])
    .where('messageId', '=', messageId)
    .executeTakeFirstOrThrow();
  const result = { outcome: 'delivered', phase: 'dot', mx: null, address: null, tls: null } as const;
  const reply = { smtpCode: 250, enhancedCode: null, reply: null };
  await side
    .insertInto('attempts')
    .values({ id: newId('att', at), ...recipient, messageId, at, durationMs, ...result, ...reply })
    .execute();
}

async function record(emailId: Id<'em'>, more: Partial<EngagementRequest> = {}): Promise<void> {
  const request: EngagementRequest = {
    ...{ emailId, kind: 'click', link: 0, url: LINK, at: clock.now(), ip: '192.0.2.7' },
    ...{ userAgent: FIREFOX, method: 'GET', isPrefetch: false },
    ...more,
  };
  await test1.app.db.commit(recordEngagements, [request]);
}

const open = { kind: 'open', link: null, url: null } as const;

/** Classifies what is due after the delay. */
async function classifyAll(): Promise<void> {
  await clock.advance(CLASSIFICATION_DELAY_MS);
  await work.lease(1);
}

const rowsOf = (emailId: Id<'em'>): Promise<EngagementRow[]> =>
  side.selectFrom('engagements').selectAll().where('emailId', '=', emailId).orderBy('id').execute();

const firstsOf = (emailId: Id<'em'>) =>
  side.selectFrom('firstEngagements').select(['kind', 'at']).where('emailId', '=', emailId).execute();

/** The opens and clicks among the events of an email, with their data as webhooks post it. */
async function reportsOf(emailId: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const rows = await side
    .selectFrom('events')
    .select('id')
    .where('emailId', '=', emailId)
    .where('type', 'in', ['email.opened', 'email.clicked'])
    .orderBy('id')
    .execute();
  const events = await Promise.all(rows.map(({ id }) => findEvent(test1.app.db.read, id)));
  return (events as EventRow[]).map(({ type, data }) => ({ type, data: JSON.parse(data) }));
}

test('a click of a person is reported 15 s later, once, with everything that its event names', async () => {
  const id = await sendEmail();
  const before = (await test1.request('GET', `/v1/emails/${id}`)).body;
  const timestamp = new Date(clock.now()).toISOString();
  await record(id);
  await clock.advance(CLASSIFICATION_DELAY_MS - 1);
  await work.lease(1);
  assert.deepEqual(await reportsOf(id), []);
  await clock.advance(1);
  await work.lease(1);
  const [report, ...others] = await reportsOf(id);
  assert.deepEqual(others, []);
  assert.equal(report?.type, 'email.clicked');
  const reader = { ip: '192.0.2.7', userAgent: FIREFOX, bot: false, botReason: null };
  assert.deepEqual(report?.data['click'], { timestamp, link: LINK, ...reader });
  assert.deepEqual([report?.data['to'], report?.data['emailId']], ['bob@rcpt.example', id]);
  assert.deepEqual([...Value.Errors(eventDataSchema(report?.type as EventType), report?.data)], []);
  await classifyAll();
  assert.equal((await reportsOf(id)).length, 1);
  const shown = (await test1.request('GET', `/v1/emails/${id}`)).body;
  assert.deepEqual(
    shown.events.slice(before.events.length).map(({ type }: EventRow) => type),
    ['email.clicked'],
  );
  assert.deepEqual([shown.status, shown.lastEventAt], [before.status, before.lastEventAt]);
});

test('an open by a machine is reported with the reason, and is not the first open of a person', async () => {
  const id = await sendEmail();
  await record(id, { ...open, userAgent: 'Mozilla/5.0' });
  await classifyAll();
  const [report] = await reportsOf(id);
  assert.equal(report?.type, 'email.opened');
  const { bot, botReason } = (report?.data['open'] ?? {}) as Record<string, unknown>;
  assert.deepEqual([bot, botReason], [true, 'privacy_proxy']);
  assert.deepEqual([...Value.Errors(eventDataSchema('email.opened'), report?.data)], []);
  assert.deepEqual(await firstsOf(id), []);
});

test('the first open and the first click of a person are kept, and later ones do not change them', async () => {
  const id = await sendEmail();
  const openedAt = clock.now();
  await record(id, open);
  await classifyAll();
  const clickedAt = clock.now();
  await record(id, open);
  await record(id);
  await classifyAll();
  assert.deepEqual(await firstsOf(id), [
    { kind: 'click', at: clickedAt },
    { kind: 'open', at: openedAt },
  ]);
  assert.equal((await reportsOf(id)).length, 3);
});

test('requests before the delivery has ended, and in the 5 s after it, are those of machines', async () => {
  const id = await sendEmail();
  const acceptedAt = clock.now() + 1_000;
  await addAttempt(id, acceptedAt, 800);
  const times = [-801, -800, 0, 4_999, 5_000].map((afterMs) => acceptedAt + afterMs);
  for (const [index, at] of times.entries()) await record(id, { ...open, at, ip: `192.0.2.${index}` });
  await clock.advance(10_000);
  await classifyAll();
  const reasons = (await rowsOf(id)).map(({ reason }) => reason);
  assert.deepEqual(reasons, [null, 'too_soon', 'too_soon', 'too_soon', null]);
});

test('a request while the mail is in flight is classified as one of the server', async () => {
  const id = await sendEmail({}, 'in_flight');
  await record(id, open);
  const part = await sendEmail({ to: ['bob@rcpt.example', 'eve@rcpt.example'] });
  await side
    .updateTable('recipients')
    .set({ state: 'in_flight', dueAt: clock.now() })
    .where('messageId', '=', part)
    .where('position', '=', 1)
    .execute();
  await record(part, open);
  await classifyAll();
  assert.equal((await rowsOf(id))[0]?.reason, 'too_soon');
  assert.equal((await rowsOf(part))[0]?.reason, null, 'one recipient has the email already');
  for (const messageId of [id, part])
    await side
      .updateTable('recipients')
      .set({ state: 'delivered', dueAt: null })
      .where('messageId', '=', messageId)
      .execute();
});

test('three links within 10 s are clicks of a machine, and so is the first of them', async () => {
  const id = await sendEmail();
  for (const link of [0, 1, 2]) {
    await record(id, { link });
    await clock.advance(5_000);
  }
  await classifyAll();
  assert.deepEqual(
    (await rowsOf(id)).map(({ reason }) => reason),
    ['many_links', 'many_links', 'many_links'],
  );
});

test('the event of an email with several recipients names the first, since the link does not tell them apart', async () => {
  const id = await sendEmail({ to: ['zoe@rcpt.example', 'bob@rcpt.example'] });
  await record(id);
  await classifyAll();
  assert.deepEqual(
    (await reportsOf(id)).map(({ data }) => data['to']),
    ['zoe@rcpt.example'],
  );
});

test('what was recorded before a restart is classified after it', async () => {
  const id = await sendEmail();
  await record(id);
  await clock.advance(HOUR_MS);
  await createClassificationWork(test1.app).lease(1);
  assert.equal((await reportsOf(id)).length, 1);
});

test('a classification that is settled twice is reported once', async () => {
  const id = await sendEmail();
  await record(id);
  await clock.advance(CLASSIFICATION_DELAY_MS);
  const [row] = await rowsOf(id);
  const input = { now: clock.now(), classifications: [{ id: Number(row?.id), reason: null }] };
  assert.equal(await test1.app.db.commit(settleEngagements, input), 1);
  assert.equal(await test1.app.db.commit(settleEngagements, input), 0);
  assert.equal((await reportsOf(id)).length, 1);
});

test('an engagement of an email that was deleted meanwhile is forgotten', async () => {
  await record('em_00000000000000000000000000');
  await classifyAll();
  assert.deepEqual(await rowsOf('em_00000000000000000000000000'), []);
});

test('the next look comes when the next engagement is due, and within the delay without one', async () => {
  const id = await sendEmail();
  const idle = await work.lease(1);
  assert.equal(idle.nextDueAt, clock.now() + CLASSIFICATION_DELAY_MS);
  await record(id);
  await clock.advance(4_000);
  assert.equal((await work.lease(1)).nextDueAt, clock.now() + CLASSIFICATION_DELAY_MS - 4_000);
  await record(id, { link: 1 });
  await clock.advance(CLASSIFICATION_DELAY_MS - 4_000);
  await record(id, { link: 2, at: clock.now() - CLASSIFICATION_DELAY_MS + 1 });
  assert.equal(
    (await work.lease(1)).nextDueAt,
    clock.now() + 250,
    'a batch takes what falls due within 250 ms',
  );
  await classifyAll();
});

test('a backlog is settled batch after batch without a pause', async () => {
  const ids = await Promise.all([sendEmail(), sendEmail()]);
  for (const id of ids)
    for (let link = 0; link < 120; link++) await record(id, { link, at: clock.now() + link * 60_000 });
  await clock.advance(HOUR_MS * 3);
  const full = await work.lease(1);
  assert.equal(full.nextDueAt, clock.now());
  const rest = await work.lease(1);
  assert.ok(Number(rest.nextDueAt) > clock.now());
  for (const id of ids) assert.equal((await reportsOf(id)).length, 120);
});

test('a clock that was set back does not delay the classification', async () => {
  const id = await sendEmail();
  await record(id, { at: clock.now() + DAY_MS });
  await record(id, { link: 1 });
  await work.lease(1);
  assert.equal((await reportsOf(id)).length, 1);
  await classifyAll();
  assert.equal((await reportsOf(id)).length, 2);
});

test('addresses and user agents are deleted after 30 days, in events too, and the first times stay', async () => {
  const id = await sendEmail();
  const young = await sendEmail();
  const at = clock.now();
  await record(id);
  await record(id, { ...open, userAgent: 'Mozilla/5.0' });
  await record(young, { at: at + 1 });
  await clock.advance(1);
  await classifyAll();
  const personal = async () =>
    (await reportsOf(id)).map(({ data }) => {
      const { ip, userAgent, ...others } = (data['click'] ?? data['open']) as Record<string, unknown>;
      return { ip, userAgent, others };
    });
  const before = await personal();
  assert.deepEqual(
    before.map(({ ip }) => ip),
    ['192.0.2.7', '192.0.2.7'],
  );
  await runRetention(at + 30 * DAY_MS);
  assert.deepEqual(
    await personal(),
    before.map(({ others }) => ({ ip: null, userAgent: null, others })),
  );
  assert.deepEqual(await rowsOf(id), []);
  assert.equal((await firstsOf(id)).length, 1);
  const [kept] = await reportsOf(young);
  assert.match(JSON.stringify(kept?.data['click']), /192\.0\.2\.7/, 'one millisecond younger');
  assert.equal((await rowsOf(young)).length, 1);
  for (const report of await reportsOf(id))
    assert.deepEqual([...Value.Errors(eventDataSchema(report.type as EventType), report.data)], []);
});

test('an engagement that waits for its classification is not deleted, however old it is', async () => {
  const id = await sendEmail();
  await record(id);
  await runRetention(clock.now() + 31 * DAY_MS);
  assert.equal((await rowsOf(id)).length, 1);
  await classifyAll();
  assert.equal((await reportsOf(id)).length, 1);
});

test('the engagements of an email are deleted with it', async () => {
  const id = await sendEmail();
  await record(id);
  await classifyAll();
  await clock.advance(401 * DAY_MS);
  await record(id, { link: 5 });
  await runRetention(clock.now() + HOUR_MS);
  assert.deepEqual(await rowsOf(id), []);
  assert.deepEqual(await firstsOf(id), []);
});

/** Runs a pass of retention at this time. */
async function runRetention(at: number): Promise<void> {
  await clock.advance(at - HOUR_MS - clock.now());
  const retention = createAllRetention(test1.app);
  await clock.advance(HOUR_MS);
  for (;;) {
    const { nextDueAt } = await retention.lease(1);
    const waitMs = Number(nextDueAt) - clock.now();
    if (waitMs >= HOUR_MS) return;
    await clock.advance(waitMs);
  }
}
